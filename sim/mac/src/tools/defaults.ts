import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { type Machine, realPath, type Tool, type ToolCall, type ToolResult } from '../machine.ts';
import { isDict, type PlistDict, type PlistValue } from '../plist.ts';
import { readDict, writeDict } from './plist-file.ts';

/** Everything except letters, digits and underscores needs quotes. */
const quoteWord = (text: string): string =>
  /^\w+$/.test(text) ? text : `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

/** The OpenStep format of property lists, which `defaults read` prints: booleans are 1 and 0. */
const openStepText = (value: PlistValue, indent = ''): string => {
  const inner = `${indent}    `;
  if (typeof value === 'string') return quoteWord(value);
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'number') return String(value);
  if (isDict(value)) {
    const lines = Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => `${inner}${quoteWord(key)} = ${openStepText(each, inner)};\n`);
    return `{\n${lines.join('')}${indent}}`;
  }
  return `(\n${value.map((each) => `${inner}${openStepText(each, inner)}`).join(',\n')}${value.length === 0 ? '' : '\n'}${indent})`;
};

/** `/Library/Preferences/com.apple.loginwindow` is a file; a bare name is a domain of the calling user: with sudo, root. */
const fileOf = (machine: Machine, domain: string, who: 'root' | 'user', cwd = '/'): string => {
  const named = domain.endsWith('.plist') ? domain : `${domain}.plist`;
  if (isAbsolute(domain)) return realPath(machine, named, cwd);
  const home = who === 'root' ? '/var/root' : `/Users/${machine.user.name}`;
  return machine.path(`${home}/Library/Preferences/${named}`);
};

/** The content of a domain, for other parts of the Mac. */
export const readDefaults = (machine: Machine, domain: string, who: 'root' | 'user' = 'root'): PlistDict =>
  readDict(fileOf(machine, domain, who)) ?? {};

const truth: Readonly<Record<string, boolean>> = { true: true, yes: true, 1: true, false: false, no: false, 0: false };

/** `key value`, or `key -int value`, any number of times. */
const pairsOf = (words: readonly string[]): (readonly [string, PlistValue])[] | undefined => {
  const [key, first, second] = words;
  if (key === undefined) return [];
  if (first === undefined) return undefined;
  const isTyped = ['-string', '-int', '-integer', '-float', '-bool', '-boolean'].includes(first);
  const value = isTyped ? valueOf([first, second ?? ''], undefined) : first;
  const others = pairsOf(words.slice(isTyped ? 3 : 2));
  return value === undefined || others === undefined ? undefined : [[key, value], ...others];
};

/** The value of the words after the key; `undefined`: invalid. */
const valueOf = ([type, ...words]: readonly string[], before: PlistValue | undefined): PlistValue | undefined => {
  const [word = ''] = words;
  switch (type) {
    case undefined:
      return undefined;
    case '-string':
      return word;
    case '-int':
    case '-integer':
      return /^[+-]?\d+$/.test(word) ? Number(word) : 0;
    case '-float':
      return Number.parseFloat(word);
    case '-bool':
    case '-boolean':
      return truth[word.toLowerCase()];
    case '-array':
      return words;
    case '-array-add':
      return [...(Array.isArray(before) ? (before as PlistValue[]) : []), ...words];
    case '-dict':
    case '-dict-add': {
      const pairs = pairsOf(words);
      return pairs && { ...(type === '-dict-add' && isDict(before) ? before : {}), ...Object.fromEntries(pairs) };
    }
    default:
      return words.length === 0 ? type : undefined;
  }
};

const typeName = (value: PlistValue): string => {
  if (isDict(value)) return 'dictionary';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'float';
  return typeof value === 'boolean' ? 'boolean' : 'string';
};

const usage: ToolResult = {
  code: 255,
  stderr:
    "Command line interface to a user's defaults.\nSyntax:\n\n'defaults' [-currentHost | -host <hostname>] followed by one of the following:\n",
};

/** defaults(1): silent when it writes; exit code 1 and a message for a missing key. */
export const createDefaults = (machine: Machine): Tool => {
  const write = (file: string, domain: string, asRoot: boolean, dict: PlistDict): ToolResult => {
    const mayWrite = asRoot || file.startsWith(machine.path(`/Users/${machine.user.name}/`));
    if (!mayWrite || !writeDict(machine, file, dict))
      return { code: 1, stderr: `Could not write domain ${domain}; exiting\n` };
    return { code: 0 };
  };

  return (call: ToolCall) => {
    const args = call.args[0] === '-currentHost' ? call.args.slice(1) : call.args;
    const [verb, named, key, ...words] = args;
    if (verb === undefined || named === undefined) return usage;
    const domain =
      named === '-g' || named === '-globalDomain' || named === 'NSGlobalDomain' ? '.GlobalPreferences' : named;
    const file = fileOf(machine, domain, call.asRoot ? 'root' : 'user', call.cwd);
    const dict = readDict(file);
    const value = key === undefined ? undefined : dict?.[key];
    const missing = {
      code: 1,
      stderr:
        key === undefined
          ? `\nDomain ${domain} does not exist\n`
          : `\nThe domain/default pair of (${domain}, ${key}) does not exist\n`,
    };
    switch (verb) {
      case 'read':
        if (key === undefined) return dict === undefined ? missing : { code: 0, stdout: `${openStepText(dict)}\n` };
        return value === undefined
          ? missing
          : { code: 0, stdout: `${typeof value === 'string' ? value : openStepText(value)}\n` };
      case 'read-type':
        return value === undefined ? missing : { code: 0, stdout: `Type is ${typeName(value)}\n` };
      case 'write': {
        const written = key === undefined ? undefined : valueOf(words, value);
        if (key === undefined || written === undefined) return usage;
        return write(file, domain, call.asRoot, { ...dict, [key]: written });
      }
      case 'delete': {
        if (!existsSync(file) || dict === undefined || (key !== undefined && value === undefined))
          return { code: 1, stderr: `\nDomain (${domain}) not found.\nDefaults have not been changed.\n` };
        const left = Object.fromEntries(Object.entries(dict).filter(([each]) => key !== undefined && each !== key));
        return write(file, domain, call.asRoot, left);
      }
      default:
        return usage;
    }
  };
};
