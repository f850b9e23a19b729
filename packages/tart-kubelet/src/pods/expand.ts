/**
 * References to variables in a value, as Kubernetes does it: `$(NAME)` is the value of NAME, `$$` is a dollar, and what names no variable,
 * or is not closed, stays as it stands. What is put in is not looked at again.
 */
export const expand = (text: string, valueOf: (name: string) => string | undefined): string =>
  text.replaceAll(/\$\$|\$\(([^)]*)\)/g, (whole, name: string | undefined) =>
    name === undefined ? '$' : (valueOf(name) ?? whole),
  );
