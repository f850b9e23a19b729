import { sleep } from '@tartan/kube/clock';
import type { Machine, ToolAnswer, ToolCall } from '../machine.ts';
import { hostNames } from '../tools/scutil.ts';
import { type AcceptsKey, readKey, refusal } from './auth-key.ts';
import { parseDuration, parseFlags } from './flags.ts';
import { newAddress, newNode, type NodeState, writeNode } from './node-state.ts';

const known = {
  switches: ['reset', 'ssh', 'accept-routes', 'accept-dns', 'force-reauth', 'shields-up', 'json', 'qr'],
  values: [
    'auth-key',
    'authkey',
    'timeout',
    'hostname',
    'advertise-tags',
    'advertise-routes',
    'login-server',
    'operator',
  ],
};

const timedOut: ToolAnswer = {
  code: 1,
  stderr: 'timeout waiting for Tailscale service to enter a Running state; check health with "tailscale status"\n',
};

export interface Up {
  readonly machine: Machine;
  readonly stateFile: string;
  readonly before: NodeState;
  readonly accepts: AcceptsKey;
  /** The Mac goes down. */
  readonly off: AbortSignal;
}

/** What nobody answers: it ends with its own --timeout, and without one never (INC-252). */
const waitInVain = async ({ machine, off }: Up, timeout: number): Promise<ToolAnswer> => {
  if (timeout > 0) await sleep(machine.clock, machine.pace(timeout), off);
  else await new Promise<void>((resolve) => off.addEventListener('abort', () => resolve(), { once: true }));
  return timedOut;
};

/** Settings that a bare `up` would silently take back; it refuses to, unless told `--reset`. */
const unmentioned = (before: NodeState, mentioned: ReadonlyMap<string, string>): readonly string[] => [
  ...(before.tags.length > 0 && !mentioned.has('advertise-tags') ? [`--advertise-tags=${before.tags.join(',')}`] : []),
  ...(before.acceptRoutes && !mentioned.has('accept-routes') ? ['--accept-routes'] : []),
];

/** `tailscale up`. A node that has joined already keeps its address and needs no key; the one it is given is not even looked at. */
export const up = async (call: ToolCall, words: readonly string[], context: Up): Promise<ToolAnswer> => {
  const { machine, before, accepts } = context;
  const { values, unknown, operands } = parseFlags(words, known);
  if (unknown !== undefined) return { code: 2, stderr: `flag provided but not defined: -${unknown}\n` };
  if (operands[0] !== undefined) return { code: 1, stderr: `too many non-flag arguments: "${operands.join(' ')}"\n` };
  const timeout = parseDuration(values.get('timeout') ?? '0');
  if (timeout === undefined) return { code: 2, stderr: 'invalid value for flag -timeout: parse error\n' };
  if (!call.asRoot)
    return { code: 1, stderr: "Access denied: prefs write access denied\n\nUse 'sudo tailscale up'.\n" };
  const tags = values.get('advertise-tags') ?? '';
  const badTag = tags.split(',').find((tag) => tag !== '' && !/^tag:[A-Za-z][A-Za-z0-9-]*$/.test(tag));
  if (badTag !== undefined) return { code: 1, stderr: `tag: "${badTag}": tags must start with 'tag:'\n` };
  const forgotten = values.get('reset') === 'true' ? [] : unmentioned(before, values);
  if (before.address !== undefined && forgotten.length > 0)
    return {
      code: 1,
      stderr: `Error: changing settings via 'tailscale up' requires mentioning all\nnon-default flags. To proceed, either re-run your command with --reset or\nuse the command below to explicitly mention the current value of\nall non-default settings:\n\n\ttailscale up ${forgotten.join(' ')}\n\n`,
    };

  const given = values.get('auth-key') ?? values.get('authkey');
  const key = given === undefined ? undefined : readKey(machine, call, given);
  if (given !== undefined && key === undefined)
    return { code: 1, stderr: `open ${given.slice('file:'.length)}: no such file or directory\n` };
  if (machine.faults.tailscaleUpHangs) return waitInVain(context, timeout);

  const joins = before.address === undefined || values.get('force-reauth') === 'true';
  if (joins) {
    if (key === undefined || key === '') {
      const { code, stderr = '' } = await waitInVain(context, timeout);
      return { code, stderr: `\nTo authenticate, visit:\n\n\thttps://login.tailscale.com/a/0123456789ab\n\n${stderr}` };
    }
    const refused = refusal(key, tags, accepts);
    if (refused !== undefined) return { code: 1, stderr: `${refused}\n` };
  }
  const acceptRoutes = (values.get('accept-routes') ?? 'false') === 'true';
  const written = writeNode(machine, context.stateFile, {
    ...newNode,
    address: before.address ?? newAddress(machine),
    wantRunning: true,
    hostname: values.get('hostname') ?? hostNames(machine).LocalHostName ?? 'mac',
    tags: tags === '' ? [] : tags.split(','),
    acceptRoutes,
  });
  if (!written) return { code: 1, stderr: 'backend error: writing prefs: no space left on device\n' };
  machine.journal.record('tailscale.up', joins ? 'joined' : 'changed');
  return { code: 0 };
};
