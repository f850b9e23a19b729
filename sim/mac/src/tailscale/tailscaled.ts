import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Machine, realPath, type Tool } from '../machine.ts';
import { readText, writeStateFile } from '../tools/plist-file.ts';
import { parseFlags } from './flags.ts';

/** The state of a node on its disk: survives the daemon and a reboot, and is lost at a reinstall. */
export interface NodeState {
  /** Its address, once it has joined. */
  readonly address?: string;
  readonly wantRunning: boolean;
  readonly hostname: string;
  readonly tags: readonly string[];
  readonly acceptRoutes: boolean;
}

export const newNode: NodeState = { wantRunning: false, hostname: '', tags: [], acceptRoutes: false };

export const readNode = (file: string): NodeState => {
  try {
    return { ...newNode, ...(JSON.parse(readText(file) ?? '{}') as Partial<NodeState>) };
  } catch {
    return newNode;
  }
};

export const writeNode = (machine: Machine, file: string, state: NodeState): boolean =>
  existsSync(dirname(file)) && writeStateFile(machine, file, JSON.stringify(state), 0o600);

/** In 100.64.0.0/10. Different for each Mac and each join. */
export const newAddress = (machine: Machine): string => {
  const [a = 0, b = 0, c = 0] = createHash('sha256').update(`${machine.root} ${machine.clock.now()}`).digest();
  return `100.${64 + (a % 64)}.${b}.${1 + (c % 254)}`;
};

type Backend = 'Running' | 'NeedsLogin' | 'Stopped';

export const backendOf = ({ address, wantRunning }: NodeState): Backend =>
  address === undefined ? 'NeedsLogin' : wantRunning ? 'Running' : 'Stopped';

interface Tailscaled {
  /** Called by the process that plays `tailscaled`: `sim-tailscaled PID FLAGS…`. */
  readonly tool: Tool;
  /** The file with its state, while it runs and answers. */
  ready(): { readonly stateFile: string } | undefined;
  reset(): void;
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // A process of another user exists.
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
};

/** Like the real one: it opens its socket well after its start. */
const socketDelayMs = 700;

/** tailscaled: a launchd process that answers on a socket. Its process is checked each time, never remembered as alive. */
export const createTailscaled = (machine: Machine): Tailscaled => {
  let running: { pid: number; stateFile: string; socket: string; readyAt: number } | undefined;
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
      // Without the folder it exits at once with EX_CONFIG (INC-224).
      if (!existsSync(dirname(stateFile)))
        return { code: 78, stderr: `store.New: open ${stateFile}: no such file or directory\n` };
      const socket = realPath(machine, values.get('socket') ?? '/var/run/tailscaled.socket', cwd);
      mkdirSync(dirname(socket), { recursive: true });
      writeFileSync(socket, '');
      running = {
        pid: Number(pidText),
        stateFile,
        socket,
        readyAt: machine.clock.monotonic() + machine.pace(socketDelayMs),
      };
      machine.journal.record('tailscaled.start');
      return { code: 0 };
    },
    ready: () => {
      if (running === undefined || !isAlive(running.pid) || machine.clock.monotonic() < running.readyAt)
        return undefined;
      return { stateFile: running.stateFile };
    },
    reset: () => {
      if (running !== undefined) rmSync(running.socket, { force: true });
      running = undefined;
    },
  };
};
