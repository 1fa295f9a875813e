# A link to a file that is no page of the reference becomes its path.
s:\[([^]]*)\]\(([^)]*\.(json|txt|py|sh|cpp|lua|yaml))\):\1 (<code>\2</code>):g
# Doxygen finds pictures by the end of their path.
s:(!\[[^]]*\]\()(\.\./)+:\1:g
