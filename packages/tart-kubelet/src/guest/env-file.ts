import { configProblem } from './refused.ts';

const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r' };

/**
 * `tuist.env`: `NAME=value`, one a line, by name. Backslashes are escaped as well as ends of lines, so a value comes back as it was
 * (G25). What a shell would make of it is the guest's matter: docs/guest.md.
 */
export const envFile = (variables: ReadonlyMap<string, string>): string =>
  [...variables.keys()]
    .toSorted()
    .map((name) => {
      const value = variables.get(name) ?? '';
      if (value.includes('\0'))
        throw configProblem(
          `The value of the variable ${name} has a zero byte in it, which no environment can hold. Hand it over in a projected volume.`,
        );
      return `${name}=${value.replaceAll(/[\\\n\r]/g, (character) => escapes[character] ?? character)}\n`;
    })
    .join('');
