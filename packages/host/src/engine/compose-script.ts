import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { remembered } from './remembered.ts';
import { quote } from './shell-command.ts';
import { significantText } from './significant-text.ts';

const folder = join(import.meta.dirname, '../../scripts');

/** The text of one of the scripts in `scripts/`. */
export const scriptText = remembered((name) => readFileSync(join(folder, `${name}.sh`), 'utf8'));

/** Parts that several scripts share. One comes along where one of its functions is named: so a change of it concerns nobody else. */
export const sharedParts: readonly string[] = [
  'deadline',
  'launchd',
  'executables',
  'refused-password',
  'proven-agent',
];

const functionsOf = (text: string): string[] => [...text.matchAll(/^(\w+)\(\)/gm)].map((match) => match[1] ?? '');

/** Comments name nothing: some functions bear names that are common words. */
const isNamedIn = (part: string, text: string): boolean => {
  const names = functionsOf(scriptText(part)).join('|');
  return new RegExp(`\\b(?:${names})\\b`).test(significantText(text));
};

/** A script with all that it needs before it: `lib.sh`, and the shared parts that it, or one of them, calls. */
const withShared = (script: string): string => {
  const found = new Set<string>();
  for (let text = script, before = -1; found.size > before; ) {
    before = found.size;
    for (const part of sharedParts) if (isNamedIn(part, text)) found.add(part);
    text = [script, ...[...found].map(scriptText)].join('\n');
  }
  return [scriptText('lib'), ...sharedParts.filter((part) => found.has(part)).map(scriptText), script].join('\n');
};

/** All that is sent of a step but its variables. */
export const stepProgram = remembered((script) => withShared(`${scriptText('step')}\n${script}`));

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
): string => compose(variables, withShared(text));
