import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { type Machine, realPath, type Tool } from '../machine.ts';
import { readText } from './plist-file.ts';

interface Entry {
  readonly log: string;
  readonly mode: number;
  readonly count: number;
}

/** `logfile [owner:group] mode count size when [flags] [pid file] [signal]`, see newsyslog.conf(5). */
const parseLine = (line: string): Entry | string => {
  const words = line.trim().split(/\s+/);
  const log = words.shift() ?? '';
  if (words[0]?.includes(':') === true) words.shift();
  const [mode, count, size, when, flags = ''] = words;
  if (when === undefined) return 'malformed line (missing fields)';
  if (!/^[0-7]{3,4}$/.test(mode ?? '')) return 'error in config file; bad permissions';
  if (!/^\d+$/.test(count ?? '')) return 'error in config file; bad value for count of logs to save';
  if (!/^(\*|\d+)$/.test(size ?? '')) return 'error in config file; bad size';
  if (!/^(\*|\d+|@\S+|\$\S+|\d+[@$]\S+)$/.test(when)) return 'malformed interval';
  if (!/^([-BCDGJNPRUWXZ]*|\/.*)$/i.test(flags)) return 'illegal flag in config file';
  return { log, mode: Number.parseInt(mode ?? '', 8), count: Number(count) };
};

/**
 * newsyslog(8): checks a configuration (`-n`), and rotates by renaming when forced (`-F`): a process with an open log keeps writing to the
 * old file.
 */
export const createNewsyslog = (machine: Machine): Tool => {
  const rotate = (log: string, { mode, count }: Entry): void => {
    for (let at = count - 2; at >= 0; at -= 1)
      if (existsSync(`${log}.${at}`)) renameSync(`${log}.${at}`, `${log}.${at + 1}`);
    if (count > 0) renameSync(log, `${log}.0`);
    writeFileSync(log, '', { mode });
  };

  return ({ args, asRoot, cwd }) => {
    const words = [...args];
    let flags = '';
    let file = '/etc/newsyslog.conf';
    for (let word = words.shift(); word?.startsWith('-') === true; word = words.shift()) {
      flags += word.slice(1);
      if (word.endsWith('f')) file = words.shift() ?? '';
    }
    const dryRun = flags.includes('n');
    if (!asRoot && !dryRun && !flags.includes('r')) return { code: 1, stderr: 'newsyslog: must have root privs\n' };
    const text = readText(realPath(machine, file, cwd));
    if (text === undefined) return { code: 1, stderr: `newsyslog: ${file}: No such file or directory\n` };
    let stdout = '';
    for (const line of text.split('\n')) {
      if (line.trim() === '' || line.trimStart().startsWith('#')) continue;
      const entry = parseLine(line);
      if (typeof entry === 'string') return { code: 1, stdout, stderr: `newsyslog: ${entry}:\n${line}\n` };
      const log = realPath(machine, entry.log);
      if (flags.includes('v'))
        stdout += `${entry.log} <${entry.count}>: ${existsSync(log) ? 'size (Kb): 0 --> ' : 'does not exist, '}skipped.\n`;
      if (flags.includes('F') && !dryRun && existsSync(log)) {
        rotate(log, entry);
        machine.journal.record('newsyslog', entry.log);
      }
    }
    return { code: 0, stdout };
  };
};
