import { mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Machine } from '../machine.ts';
import { isDict, MalformedPlist, parsePlist, type PlistDict, type PlistValue } from '../plist.ts';
import { replaceFile } from '../replace-file.ts';

/** The text of a file; undefined if it cannot be read. */
export const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

/**
 * Replaces a whole file, as cfprefsd and configd do. False: the disk is full, and the old file is unchanged. The state of these tools is on
 * the Mac's disk, so it survives a reboot and is lost at a reinstall.
 */
export const writeStateFile = (machine: Machine, path: string, text: string, mode = 0o644): boolean => {
  const { diskFree } = machine.faults;
  if (diskFree !== undefined && Buffer.byteLength(text) > diskFree) return false;
  mkdirSync(dirname(path), { recursive: true });
  replaceFile(path, text, mode);
  return true;
};

const escape = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const element = (value: PlistValue, indent: string): string => {
  const inner = `${indent}\t`;
  if (typeof value === 'string') return `${indent}<string>${escape(value)}</string>\n`;
  if (typeof value === 'boolean') return `${indent}<${value}/>\n`;
  if (typeof value === 'number') {
    const kind = Number.isInteger(value) ? 'integer' : 'real';
    return `${indent}<${kind}>${value}</${kind}>\n`;
  }
  if (isDict(value)) {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    if (entries.length === 0) return `${indent}<dict/>\n`;
    const body = entries.map(([key, each]) => `${inner}<key>${escape(key)}</key>\n${element(each, inner)}`).join('');
    return `${indent}<dict>\n${body}${indent}</dict>\n`;
  }
  if (value.length === 0) return `${indent}<array/>\n`;
  return `${indent}<array>\n${value.map((each) => element(each, inner)).join('')}${indent}</array>\n`;
};

/** A property list as XML, with sorted keys as macOS writes them. */
export const plistText = (value: PlistValue): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
${element(value, '')}</plist>
`;

/** The dictionary in a file. An invalid file counts as missing, as for cfprefsd. */
export const readDict = (path: string): PlistDict | undefined => {
  const text = readText(path);
  if (text === undefined) return undefined;
  try {
    const value = parsePlist(text);
    return isDict(value) ? value : undefined;
  } catch (error) {
    if (error instanceof MalformedPlist) return undefined;
    throw error;
  }
};

export const writeDict = (machine: Machine, path: string, value: PlistDict): boolean =>
  writeStateFile(machine, path, plistText(value));
