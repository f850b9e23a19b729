import { connect } from 'node:net';
import type { Machine, Tool } from '../machine.ts';

const loopback = new Set(['127.0.0.1', 'localhost', '::1']);

const answers = (host: string, port: number, within: number): Promise<boolean> =>
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
 * nc(1) as a probe: `nc -z -G SECONDS HOST PORT`, where -G is the time for connecting. This Mac's sshd counts as its
 * port 22; beyond its own loopback it reaches nobody.
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
    if (!loopback.has(host))
      return { code: 1, stderr: `nc: connectx to ${host} port ${port} (tcp) failed: Operation timed out\n` };
    // A listener that never says a word still accepts, so this probe does not see it.
    const open = port === 22 ? machine.faults.ssh !== 'refuse' : await answers(host, port, timeout * 1000);
    return open ? { code: 0, stderr: `Connection to ${host} port ${port} [tcp/*] succeeded!\n` } : refused;
  };
