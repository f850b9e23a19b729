import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { realPath } from '../launchd/paths.ts';
import type { Machine, Tool } from '../machine.ts';
import { parseFlags } from './flags.ts';

export interface Daemon {
  /** Asked by the process that plays `tailscaled`: `sim-tailscaled PID FLAGS…`. */
  readonly tool: Tool;
  /** The file with its state, while it runs and has begun to answer. */
  answering(): { readonly stateFile: string } | undefined;
  forget(): void;
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // Somebody else's process is a process.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};

/** Of the real one: it opens its socket well after it has started. */
const opensItsSocketAfter = 700;

/** tailscaled: a process of launchd's that answers on a socket. Whether it lives is asked of its process, never remembered. */
export const createDaemon = (machine: Machine): Daemon => {
  let running: { pid: number; stateFile: string; socket: string; answersFrom: number } | undefined;
  return {
    tool: ({ args: [pidText = '', ...words], asRoot, cwd }) => {
      const { values, unknown } = parseFlags(words, {
        switches: ['cleanup'],
        values: ['state', 'statedir', 'socket', 'port', 'tun', 'verbose'],
      });
      if (unknown !== undefined) return { code: 2, stderr: `flag provided but not defined: -${unknown}\n` };
      if (!asRoot)
        return {
          code: 1,
          stderr: 'tailscaled requires root; use sudo tailscaled (or use --tun=userspace-networking)\n',
        };
      const stateFile = realPath(machine, values.get('state') ?? '/Library/Tailscale/tailscaled.state', cwd);
      // Without the folder it ends at once with EX_CONFIG (INC-224).
      if (!existsSync(dirname(stateFile)))
        return { code: 78, stderr: `store.New: open ${stateFile}: no such file or directory\n` };
      const socket = realPath(machine, values.get('socket') ?? '/var/run/tailscaled.socket', cwd);
      mkdirSync(dirname(socket), { recursive: true });
      writeFileSync(socket, '');
      running = {
        pid: Number(pidText),
        stateFile,
        socket,
        answersFrom: machine.clock.monotonic() + machine.pace(opensItsSocketAfter),
      };
      machine.journal.record('tailscaled.start');
      return { code: 0 };
    },
    answering: () => {
      if (running === undefined || !isAlive(running.pid) || machine.clock.monotonic() < running.answersFrom)
        return undefined;
      return { stateFile: running.stateFile };
    },
    forget: () => {
      if (running !== undefined) rmSync(running.socket, { force: true });
      running = undefined;
    },
  };
};
