import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A function of one text that works each answer out once. For texts of which there are few: scripts, which do not change while we run. */
export const memoize = (work: (text: string) => string): ((text: string) => string) => {
  const answers = new Map<string, string>();
  return (text) => {
    const answer = answers.get(text) ?? work(text);
    answers.set(text, answer);
    return answer;
  };
};

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

/**
 * A shell script without its comments and blank lines: what its hash is made of, so that a better comment rolls no fleet.
 *
 * Lines inside a quoted string or a here-document stay, whatever they begin with: they end up on hosts.
 * In doubt a line stays. A script of which this cannot see the end of a string or document is refused.
 */
export const stripComments = (script: string): string => {
  const kept: string[] = [];
  let quoted: Quote = 'none';
  let document: string | undefined;
  for (const line of script.split('\n')) {
    if (document !== undefined) {
      kept.push(line);
      if (line.replace(/^\t+/, '') === document) document = undefined;
      continue;
    }
    if (quoted === 'none' && /^\s*(#|$)/.test(line)) continue;
    kept.push(line);
    const end = openQuoteAfter(line, quoted);
    if (quoted === 'none') document = /<<-?\s*(['"]?)(\w+)\1/.exec(line)?.[2];
    quoted = end;
  }
  if (quoted !== 'none' || document !== undefined) throw new SyntaxError('a string or here-document has no end');
  return kept.join('\n');
};

type Quote = 'none' | "'" | '"';

/** Whether a string that began on this line, or before it, goes on after it. */
const openQuoteAfter = (line: string, before: Quote): Quote => {
  let quote = before;
  for (let at = 0; at < line.length; at++) {
    const character = line.charAt(at);
    if (character === '\\' && quote !== "'") at++;
    else if (quote === 'none' && character === '#' && /\s|^$/.test(line.charAt(at - 1))) return quote;
    else if (character === quote) quote = 'none';
    else if (quote === 'none' && (character === "'" || character === '"')) quote = character;
  }
  return quote;
};

const folder = join(import.meta.dirname, '../../scripts');

/** The text of one of the scripts in `scripts/`. */
export const scriptText = memoize((name) => readFileSync(join(folder, `${name}.sh`), 'utf8'));

/** Parts that several scripts share. One comes along where one of its functions is named: so a change of it concerns nobody else. */
export const sharedScripts: readonly string[] = [
  'deadline',
  'launchd',
  'executables',
  'refused-password',
  'proven-agent',
];

const functionsOf = (text: string): string[] => [...text.matchAll(/^(\w+)\(\)/gm)].map((match) => match[1] ?? '');

/** Comments name nothing: some functions bear names that are common words. */
const isUsedIn = (part: string, text: string): boolean => {
  const names = functionsOf(scriptText(part)).join('|');
  return new RegExp(`\\b(?:${names})\\b`).test(stripComments(text));
};

/** A script with all that it needs before it: `lib.sh`, and the shared parts that it, or one of them, calls. */
const withSharedScripts = (script: string): string => {
  const found = new Set<string>();
  for (let text = script, before = -1; found.size > before; ) {
    before = found.size;
    for (const part of sharedScripts) if (isUsedIn(part, text)) found.add(part);
    text = [script, ...[...found].map(scriptText)].join('\n');
  }
  return [scriptText('lib'), ...sharedScripts.filter((part) => found.has(part)).map(scriptText), script].join('\n');
};

/** All that is sent of a step but its variables. */
export const stepProgram = memoize((script) => withSharedScripts(`${scriptText('step')}\n${script}`));

const assignable = /^[A-Z][A-Z0-9_]*$/;

/** Variables, a program, and the line that starts it. Values are visible to everybody on the host. */
const compose = (variables: Readonly<Record<string, string>>, program: string): string => {
  const assignments = Object.entries(variables).map(([variable, value]) => {
    if (!assignable.test(variable)) throw new TypeError(`${variable} is no name for a variable of a host script`);
    return `${variable}=${quote(value)}`;
  });
  return [...assignments, program, 'main', ''].join('\n');
};

/** The command of a step, whose script says how to check, apply and remove. */
export const composeStep = (script: string, variables: Readonly<Record<string, string>>): string =>
  compose(variables, stepProgram(script));

/** A command that belongs to no step. Its script defines `main`. */
export const composeScript = (
  name: string,
  variables: Readonly<Record<string, string>>,
  text = scriptText(name),
): string => compose(variables, withSharedScripts(text));
