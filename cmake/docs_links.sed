# The whole page is one line for sed, since a link may stand on two.
# A link to a file that is no page of the reference becomes its path.
s:\[([^]]*)\]\(([^)]*\.(json|txt|py|sh|cpp|hpp|lua|yaml)|LICENSE)\):\1 (<code>\2</code>):g
# Doxygen finds pages by their file, and has no anchors for their headings.
s:\[([^]]*)\]\(#[^)]*\):\1:g
s:(\]\([^)]*\.md)#[^)]*\):\1):g
# Doxygen finds pictures by the end of their path.
s:(!\[[^]]*\]\()(\.\./)+:\1:g
# Doxygen 1.9 does not see that bold text begins where it begins with code.
s:([ \n])\*\*(`[^*]+)\*\*:\1<b>\2</b>:g
