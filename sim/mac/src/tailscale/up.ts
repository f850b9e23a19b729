import { readFileSync } from 'node:fs';
import { sleep } from '@tartan/kube/clock';
import { type Machine, realPath, type ToolCall, type ToolResult } from '../machine.ts';
import { hostNames } from '../tools/system-info.ts';
import { parseDuration, parseFlags } from './flags.ts';
import { newAddress, newNode, type NodeState, writeNode } from './tailscaled.ts';

/** Whether the control server accepts a key. The part after `?` is for the server, not part of the key. */
export type KeyValidator = (key: string) => boolean;

/** Default: accepts any well-formed key without `expired` in it. */
export const isValidKey: KeyValidator = (key) => /^tskey-(auth|client)-/.test(key) && !key.includes('expired');

/** With `file:PATH` the key is read from a file, so that no argument contains it. `undefined`: unreadable. */
const readKey = (machine: Machine, { cwd, stdin }: ToolCall, value: string): string | undefined => {
  if (!value.startsWith('file:')) return value;
  const file = value.slice('file:'.length);
  if (file === '/dev/stdin') return stdin.toString().trim();
  try {
    return readFileSync(realPath(machine, file, cwd), 'utf8').trim();
  } catch {
    return undefined;
  }
};

/** Why a key is refused, in the words of `tailscale up`; `undefined` if it is accepted (INC-216). */
const keyError = (key: string, tags: string, accepts: KeyValidator): string | undefined => {
  if (key.startsWith('tskey-client-') && tags === '') return 'oauth authkeys require --advertise-tags';
  const [bare = ''] = key.split('?');
  return accepts(bare) ? undefined : 'backend error: invalid key: unable to validate API key';
};

const knownFlags = {
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

const timedOut: ToolResult = {
  code: 1,
  stderr: 'timeout waiting for Tailscale service to enter a Running state; check health with "tailscale status"\n',
};

interface UpContext {
  readonly machine: Machine;
  readonly stateFile: string;
  readonly before: NodeState;
  readonly accepts: KeyValidator;
  /** Fires when the Mac shuts down. */
  readonly off: AbortSignal;
}

/** Without an answer, it ends with its own --timeout, and without one never (INC-252). */
const waitForTimeout = async ({ machine, off }: UpContext, timeout: number): Promise<ToolResult> => {
  if (timeout > 0) await sleep(machine.clock, machine.pace(timeout), off);
  else await new Promise<void>((resolve) => off.addEventListener('abort', () => resolve(), { once: true }));
  return timedOut;
};

/** Settings that a bare `up` would silently revert; it refuses to, without `--reset`. */
const omittedSettings = (before: NodeState, mentioned: ReadonlyMap<string, string>): readonly string[] => [
  ...(before.tags.length > 0 && !mentioned.has('advertise-tags') ? [`--advertise-tags=${before.tags.join(',')}`] : []),
  ...(before.acceptRoutes && !mentioned.has('accept-routes') ? ['--accept-routes'] : []),
];

/** `tailscale up`. A node that has already joined keeps its address and needs no key; a given one is not even checked. */
export const up = async (call: ToolCall, words: readonly string[], context: UpContext): Promise<ToolResult> => {
  const { machine, before, accepts } = context;
  const { values, unknown, operands } = parseFlags(words, knownFlags);
  if (unknown !== undefined) return { code: 2, stderr: `flag provided but not defined: -${unknown}\n` };
  if (operands[0] !== undefined) return { code: 1, stderr: `too many non-flag arguments: "${operands.join(' ')}"\n` };
  const timeout = parseDuration(values.get('timeout') ?? '0');
  if (timeout === undefined) return { code: 2, stderr: 'invalid value for flag -timeout: parse error\n' };
  if (!call.asRoot)
    return { code: 1, stderr: "Access denied: prefs write access denied\n\nUse 'sudo tailscale up'.\n" };
  const tags = values.get('advertise-tags') ?? '';
  const badTag = tags.split(',').find((tag) => tag !== '' && !/^tag:[A-Za-z][A-Za-z0-9-]*$/.test(tag));
  if (badTag !== undefined) return { code: 1, stderr: `tag: "${badTag}": tags must start with 'tag:'\n` };
  const omitted = values.get('reset') === 'true' ? [] : omittedSettings(before, values);
  if (before.address !== undefined && omitted.length > 0)
    return {
      code: 1,
      stderr: `Error: changing settings via 'tailscale up' requires mentioning all\nnon-default flags. To proceed, either re-run your command with --reset or\nuse the command below to explicitly mention the current value of\nall non-default settings:\n\n\ttailscale up ${omitted.join(' ')}\n\n`,
    };

  const given = values.get('auth-key') ?? values.get('authkey');
  const key = given === undefined ? undefined : readKey(machine, call, given);
  if (given !== undefined && key === undefined)
    return { code: 1, stderr: `open ${given.slice('file:'.length)}: no such file or directory\n` };
  if (machine.faults.tailscaleUpHangs) return waitForTimeout(context, timeout);

  const joins = before.address === undefined || values.get('force-reauth') === 'true';
  if (joins) {
    if (key === undefined || key === '') {
      const { code, stderr = '' } = await waitForTimeout(context, timeout);
      return { code, stderr: `\nTo authenticate, visit:\n\n\thttps://login.tailscale.com/a/0123456789ab\n\n${stderr}` };
    }
    const refused = keyError(key, tags, accepts);
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
