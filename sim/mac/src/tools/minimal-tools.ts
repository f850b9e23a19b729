import { lstatSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { type Machine, realPath, type Tool, type ToolResult } from '../machine.ts';

const loopbackHosts = new Set(['127.0.0.1', 'localhost', '::1']);

const isListening = (host: string, port: number, within: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port });
    const done = (reached: boolean): void => {
      socket.destroy();
      resolve(reached);
    };
    socket.setTimeout(within, () => done(false));
    socket.once('connect', () => done(true)).once('error', () => done(false));
  });

/**
 * nc(1) as a probe: `nc -z -G SECONDS HOST PORT`, where -G is the connect timeout. This Mac's sshd counts as its port 22; it reaches
 * nothing beyond its own loopback.
 */
export const createNc =
  (machine: Machine): Tool =>
  async ({ args }) => {
    const words = [...args];
    const operands: string[] = [];
    let probe = false;
    let timeout = 75;
    for (let word = words.shift(); word !== undefined; word = words.shift()) {
      if (word === '-G' || word === '-w') timeout = Number(words.shift());
      else if (word.startsWith('-')) probe ||= word.includes('z');
      else operands.push(word);
    }
    const [host = '', portText = ''] = operands;
    const port = Number(portText);
    if (!probe) return { code: 1, stderr: 'nc: this Mac only plays -z\n' };
    if (!(timeout >= 0) || !(port > 0 && port < 65_536))
      return { code: 1, stderr: `nc: port number invalid: ${portText}\n` };
    const refused = { code: 1, stderr: `nc: connectx to ${host} port ${port} (tcp) failed: Connection refused\n` };
    if (!loopbackHosts.has(host))
      return { code: 1, stderr: `nc: connectx to ${host} port ${port} (tcp) failed: Operation timed out\n` };
    // A listener that sends nothing still accepts, so this probe does not notice it.
    const open = port === 22 ? machine.faults.ssh !== 'refuse' : await isListening(host, port, timeout * 1000);
    return open ? { code: 0, stderr: `Connection to ${host} port ${port} [tcp/*] succeeded!\n` } : refused;
  };

const fixedOutput =
  (stdout: string, code = 0): Tool =>
  () => ({ code, stdout });
const notSimulated =
  (name: string): Tool =>
  () => ({ code: 1, stderr: `${name}: this Mac does not play it yet\n` });

const noDeveloperTools =
  'xcode-select: note: No developer tools were found, requesting install.\n' +
  'If developer tools are located at a non-default location on disk, use `sudo xcode-select --switch path/to/Xcode.app` to specify the Xcode that you wish to use for command line developer tools, and cancel the installation dialog.\n' +
  'See `man xcode-select` for more details.\n';

/** A stub that asks for the Command Line Tools, which this Mac does not have. */
const developerToolStub =
  (machine: Machine): Tool =>
  ({ name }) => {
    machine.journal.record('developer tools wanted', name);
    return { code: 1, stderr: noDeveloperTools };
  };

const createXcodeSelect = (machine: Machine): Tool => {
  const link = (): string => machine.path('/var/db/xcode_select_link');
  return ({ args: [flag, path], asRoot, cwd }): ToolResult => {
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

/** Tools with one function each. Unsupported options fail instead of pretending. */
export const minimalTools = (machine: Machine): Readonly<Record<string, Tool>> => ({
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
  softwareupdate: fixedOutput('Software Update Tool\n\nFinding available software\nNo new software available.\n'),
  logger: ({ args }) => {
    const flagsWithValue = new Set(['-t', '-p', '-f']);
    const words = args.filter((word, at) => !word.startsWith('-') && !flagsWithValue.has(args[at - 1] ?? ''));
    machine.journal.record('log', words.join(' '));
    return { code: 0 };
  },
  networksetup: notSimulated('networksetup'),
  diskutil: notSimulated('diskutil'),
  'xcode-select': createXcodeSelect(machine),
  python3: developerToolStub(machine),
});
