import { lstatSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { realPath } from '../launchd/paths.ts';
import type { Machine, Tool, ToolAnswer } from '../machine.ts';

const answer =
  (stdout: string, code = 0): Tool =>
  () => ({ code, stdout });
const notPlayed =
  (name: string): Tool =>
  () => ({ code: 1, stderr: `${name}: this Mac does not play it yet\n` });

const noDeveloperTools =
  'xcode-select: note: No developer tools were found, requesting install.\n' +
  'If developer tools are located at a non-default location on disk, use `sudo xcode-select --switch path/to/Xcode.app` to specify the Xcode that you wish to use for command line developer tools, and cancel the installation dialog.\n' +
  'See `man xcode-select` for more details.\n';

/** A name that only asks for the Command Line Tools, which this Mac does not have. */
const stub =
  (machine: Machine): Tool =>
  ({ name }) => {
    machine.journal.record('developer tools wanted', name);
    return { code: 1, stderr: noDeveloperTools };
  };

const createXcodeSelect = (machine: Machine): Tool => {
  const link = (): string => machine.path('/var/db/xcode_select_link');
  return ({ args: [flag, path], asRoot, cwd }): ToolAnswer => {
    if (flag === '-p' || flag === '--print-path') {
      const found = lstatSync(link(), { throwIfNoEntry: false });
      if (found !== undefined) return { code: 0, stdout: `${readlinkSync(link())}\n` };
      return {
        code: 2,
        stderr:
          'xcode-select: error: unable to get active developer directory, use `sudo xcode-select --switch path/to/Xcode.app` to set one (or see `man xcode-select`)\n',
      };
    }
    if (flag !== '-s' && flag !== '--switch') return { code: 0 };
    if (!asRoot) return { code: 1, stderr: 'xcode-select: error: --switch must be run as root\n' };
    if (path === undefined || lstatSync(realPath(machine, path, cwd), { throwIfNoEntry: false }) === undefined)
      return { code: 1, stderr: `xcode-select: error: invalid developer directory '${path ?? ''}'\n` };
    rmSync(link(), { force: true });
    symlinkSync(path, link());
    return { code: 0 };
  };
};

/** Tools that know one thing each. What is not played yet says so, rather than pretend. */
export const fixedAnswers = (machine: Machine): Readonly<Record<string, Tool>> => ({
  fdesetup: ({ args: [verb] }) =>
    verb === 'status'
      ? { code: 0, stdout: 'FileVault is Off.\n' }
      : { code: 1, stderr: 'fdesetup: only status is played\n' },
  csrutil: ({ args: [verb] }) =>
    verb === 'status'
      ? { code: 0, stdout: 'System Integrity Protection status: enabled.\n' }
      : { code: 1, stderr: 'csrutil: This tool needs to be executed from Recovery OS.\n' },
  systemsetup: ({ args: [flag], asRoot }) => {
    if (!asRoot) return { code: 1, stdout: 'You need administrator access to run this tool... exiting!\n' };
    if (flag === '-getremotelogin') return { code: 0, stdout: 'Remote Login: On\n' };
    return flag === '-gettimezone'
      ? { code: 0, stdout: 'Time Zone: GMT\n' }
      : { code: 1, stderr: 'systemsetup: this Mac does not play it yet\n' };
  },
  softwareupdate: answer('Software Update Tool\n\nFinding available software\nNo new software available.\n'),
  logger: ({ args }) => {
    const flagsWithValue = new Set(['-t', '-p', '-f']);
    const words = args.filter((word, at) => !word.startsWith('-') && !flagsWithValue.has(args[at - 1] ?? ''));
    machine.journal.record('log', words.join(' '));
    return { code: 0 };
  },
  networksetup: notPlayed('networksetup'),
  diskutil: notPlayed('diskutil'),
  'xcode-select': createXcodeSelect(machine),
  python3: stub(machine),
});
