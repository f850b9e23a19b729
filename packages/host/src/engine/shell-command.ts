/** A word for a POSIX shell, whatever is in it. */
export const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/**
 * A line that has a script run by `/bin/sh`, whatever the login shell that reads the line: bash, zsh, fish and csh agree on
 * letters, digits and single quotes, and on nothing else. The script's standard input is untouched.
 * `base64 -D` is what every macOS has; `-d` came later.
 */
export const shellCommand = (script: string, options: { readonly asRoot: boolean }): string => {
  const encoded = Buffer.from(script).toString('base64');
  return `exec ${options.asRoot ? 'sudo -n ' : ''}/bin/sh -c 'eval "$(echo ${encoded} | base64 -D)"'`;
};
