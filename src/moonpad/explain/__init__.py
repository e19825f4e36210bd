"""Scripts and command lines of others: read here, never executed.

    text ─markdown─▶ blocks ─shell_words─▶ tokens ─syntax─▶ statements ─walk, expand─▶ lines ─wrappers─▶ Command

`script.read_script` and `script.read_command` run all of it; `grouping.group` joins the pieces of one deployment.
"""
