import { type Machine, realPath, type Tool, type ToolResult } from '../machine.ts';
import { isDict, MalformedPlist, parsePlist, type PlistValue } from '../plist.ts';
import { plistText, readText, writeStateFile } from './plist-file.ts';

const valueAtKeyPath = (value: PlistValue, keyPath: string): PlistValue | undefined =>
  keyPath.split(/(?<!\\)\./).reduce<PlistValue | undefined>((found, escaped) => {
    const key = escaped.replaceAll('\\.', '.');
    if (Array.isArray(found)) return (found as readonly PlistValue[])[Number(key)];
    return isDict(found) ? found[key] : undefined;
  }, value);

const raw = (value: PlistValue): string => {
  if (Array.isArray(value)) return String(value.length);
  if (isDict(value)) return Object.keys(value).join('\n');
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const forms: Readonly<Record<string, (value: PlistValue) => string>> = {
  raw: (value) => `${raw(value)}\n`,
  xml1: plistText,
  json: (value) => JSON.stringify(value),
};

/** plutil(1): -lint, -extract and -convert, one file or `-`. */
export const createPlutil = (machine: Machine): Tool => {
  const read = (text: string | undefined, name: string): { value: PlistValue } | { refusal: ToolResult } => {
    if (text === undefined)
      return {
        refusal: { code: 1, stderr: `${name}: file does not exist or is not readable or is not a regular file\n` },
      };
    try {
      return { value: parsePlist(text) };
    } catch (error) {
      if (!(error instanceof MalformedPlist)) throw error;
      return { refusal: { code: 1, stdout: `${name}: (${error.message})\n` } };
    }
  };

  return ({ args, cwd, stdin }) => {
    const words = [...args];
    const options: Record<string, string> = {};
    const files: string[] = [];
    let lint = args.length > 0 && args.every((word) => !word.startsWith('-'));
    let keyPath: string | undefined;
    let form = 'xml1';
    for (let word = words.shift(); word !== undefined; word = words.shift()) {
      if (word === '-lint') lint = true;
      else if (word === '-extract') {
        keyPath = words.shift();
        form = words.shift() ?? '';
      } else if (word === '-convert') form = words.shift() ?? '';
      else if (word === '-o') options['o'] = words.shift() ?? '';
      else if (word !== '-s' && word !== '--') files.push(word);
    }
    const [file] = files;
    const write = forms[form];
    if (file === undefined || write === undefined) return { code: 1, stderr: 'plutil: unrecognized arguments\n' };
    const name = file === '-' ? '<stdin>' : file;
    const found = read(file === '-' ? stdin.toString() : readText(realPath(machine, file, cwd)), name);
    if ('refusal' in found) return found.refusal;
    if (lint) return { code: 0, stdout: `${name}: OK\n` };
    const value = keyPath === undefined ? found.value : valueAtKeyPath(found.value, keyPath);
    if (value === undefined)
      return {
        code: 1,
        stdout: `${name}: Could not extract value, error: No value at that key path or invalid key path: ${keyPath ?? ''}\n`,
      };
    const output = options['o'] ?? (form === 'raw' ? '-' : file);
    if (output === '-') return { code: 0, stdout: write(value) };
    return writeStateFile(machine, realPath(machine, output, cwd), write(value))
      ? { code: 0 }
      : { code: 1, stderr: `${output}: No space left on device\n` };
  };
};
