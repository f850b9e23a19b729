import type { Machine, Subsystem, ToolCall, ToolResult } from '../machine.ts';
import { parseFlags } from './flags.ts';
import { backendOf, createTailscaled, newNode, type NodeState, readNode, writeNode } from './tailscaled.ts';
import { isValidKey, type KeyValidator, up } from './up.ts';

/** The tailnet membership of a Mac, as far as its command line shows it. */
export interface Tailscale extends Subsystem {
  /** Its address while it is a member, whatever the state of the daemon. */
  address(): string | undefined;
}

export interface TailscaleOptions {
  /** Which keys the control server accepts. */
  readonly accepts?: KeyValidator;
}

const notRunning = (socket: string): ToolResult => ({
  code: 1,
  stderr: `failed to connect to local tailscaled; it doesn't appear to be running (dial unix ${socket}: connect: no such file or directory)\n`,
});

const statusJson = (node: NodeState): string => {
  const addresses = backendOf(node) === 'Running' && node.address !== undefined ? [node.address] : [];
  return `${JSON.stringify(
    {
      Version: '1.96.5-simulated',
      BackendState: backendOf(node),
      HaveNodeKey: node.address !== undefined,
      TailscaleIPs: addresses,
      Self: {
        HostName: node.hostname,
        DNSName: node.address === undefined ? '' : `${node.hostname.toLowerCase()}.tail0123.ts.net.`,
        OS: 'macOS',
        TailscaleIPs: addresses,
        Tags: node.tags,
        Online: addresses.length > 0,
      },
      MagicDNSSuffix: 'tail0123.ts.net',
      Peer: null,
    },
    undefined,
    2,
  )}\n`;
};

/**
 * The tools `sim-tailscale` and `sim-tailscaled`, which the stand-ins for `tailscale` and `tailscaled` (see `software/`) call; no real Mac
 * has them. Exit codes and texts are those of Tailscale.
 */
export const createTailscale = (machine: Machine, { accepts = isValidKey }: TailscaleOptions = {}): Tailscale => {
  const daemon = createTailscaled(machine);
  let off = new AbortController();
  let lastStateFile: string | undefined;

  const answer = async (call: ToolCall, stateFile: string, words: readonly string[]): Promise<ToolResult> => {
    const [verb = '', ...rest] = words;
    const node = readNode(stateFile);
    const backend = backendOf(node);
    switch (verb) {
      case 'status':
        if (rest.some((word) => /^--?json(=true)?$/.test(word))) return { code: 0, stdout: statusJson(node) };
        if (backend === 'NeedsLogin') return { code: 1, stdout: 'Logged out.\n' };
        if (backend === 'Stopped') return { code: 1, stdout: 'Tailscale is stopped.\n' };
        return { code: 0, stdout: `${node.address ?? ''}  ${node.hostname}  tagged-devices macOS  -\n` };
      case 'ip':
        if (backend !== 'Running') return { code: 1, stderr: `no current Tailscale IPs; state: ${backend}\n` };
        if (rest.some((word) => /^--?6$/.test(word))) return { code: 1, stderr: 'no Tailscale IPv6 address\n' };
        return { code: 0, stdout: `${node.address ?? ''}\n` };
      case 'up':
        return up(call, rest, { machine, stateFile, before: node, accepts, off: off.signal });
      case 'down':
      case 'logout': {
        if (!call.asRoot) return { code: 1, stderr: 'Access denied: prefs write access denied\n' };
        writeNode(machine, stateFile, verb === 'logout' ? newNode : { ...node, wantRunning: false });
        machine.journal.record(`tailscale.${verb}`);
        return { code: 0 };
      }
      default:
        return { code: 1, stderr: `tailscale: unknown subcommand: ${verb}\n` };
    }
  };

  return {
    tools: {
      'sim-tailscaled': daemon.tool,
      'sim-tailscale': async (call) => {
        const { values, operands } = parseFlags(call.args, { switches: [], values: ['socket'] });
        const answering = daemon.ready();
        if (answering === undefined) return notRunning(values.get('socket') ?? '/var/run/tailscaled.socket');
        lastStateFile = answering.stateFile;
        return answer(call, answering.stateFile, operands);
      },
    },
    address: () => (lastStateFile === undefined ? undefined : readNode(lastStateFile).address),
    boot: async () => {
      off = new AbortController();
    },
    shutdown: async () => {
      off.abort();
      daemon.reset();
    },
  };
};
