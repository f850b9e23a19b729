import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Caches the result for each text. For the few scripts, which do not change while the process runs. */
export const memoize = (work: (text: string) => string): ((text: string) => string) => {
  const answers = new Map<string, string>();
  return (text) => {
    const answer = answers.get(text) ?? work(text);
    answers.set(text, answer);
    return answer;
  };
};

/** Quotes a word for a POSIX shell. */
export const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/**
 * A line that runs a script in `/bin/sh` from any login shell: bash, zsh, fish and csh agree on letters, digits and single quotes, and
 * on nothing else. The script's standard input is untouched. Every macOS has `base64 -D`; `-d` came later.
 */
export const shellCommand = (script: string, options: { readonly asRoot: boolean }): string => {
  const encoded = Buffer.from(script).toString('base64');
  return `exec ${options.asRoot ? 'sudo -n ' : ''}/bin/sh -c 'eval "$(echo ${encoded} | base64 -D)"'`;
};

/**
 * A shell script without its comments and blank lines: the step hash covers this text, so that a changed comment starts no rollout.
 * Lines of a here-document stay: they end up on hosts. No string in `scripts/` may have a line that is blank or begins with `#`.
 */
export const stripComments = (script: string): string => {
  let delimiter: string | undefined;
  const isKept = (line: string): boolean => {
    if (delimiter !== undefined) {
      if (line === delimiter) delimiter = undefined;
      return true;
    }
    if (/^\s*(#|$)/.test(line)) return false;
    delimiter = /<<'(\w+)'/.exec(line)?.[1];
    return true;
  };
  return script.split('\n').filter(isKept).join('\n');
};

const folder = join(import.meta.dirname, '../../scripts');

/** The text of one of the scripts in `scripts/`. */
export const scriptText = memoize((name) => readFileSync(join(folder, `${name}.sh`), 'utf8'));

/** The shared scripts that a script declares, such as `# needs: deadline launchd`, in the order in which they are sent. */
export const neededScripts = (script: string): string[] => /^# needs: (.+)$/m.exec(script)?.[1]?.split(' ') ?? [];

const withSharedScripts = (script: string): string =>
  [...['lib', ...neededScripts(script)].map(scriptText), script].join('\n');

/** The whole text that is sent for a step, except its variables. */
export const stepProgram = memoize((script) => withSharedScripts(`${scriptText('step')}\n${script}`));

const assignable = /^[A-Z][A-Z0-9_]*$/;

/** Variables, a program, and the line that starts it. Every user of the host can see the values. */
const compose = (variables: Readonly<Record<string, string>>, program: string): string => {
  const assignments = Object.entries(variables).map(([variable, value]) => {
    if (!assignable.test(variable)) throw new TypeError(`${variable} is no name for a variable of a host script`);
    return `${variable}=${quote(value)}`;
  });
  return [...assignments, program, 'main', ''].join('\n');
};

/** The command of a step, whose script defines check, apply and remove. */
export const composeStep = (script: string, variables: Readonly<Record<string, string>>): string =>
  compose(variables, stepProgram(script));

/** A command that belongs to no step. Its script defines `main`. */
export const composeScript = (
  name: string,
  variables: Readonly<Record<string, string>>,
  text = scriptText(name),
): string => compose(variables, withSharedScripts(text));
