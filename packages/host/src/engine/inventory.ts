import { errorMessage } from '@tartan/kube';
import type { HostConnection } from '../connection/connection.ts';
import { composeScript, shellCommand } from './compose-script.ts';
import { type Interrupted, interruptedBy, type UnreadableHost } from './host-outcome.ts';
import { hostRedactor } from './redaction.ts';

/** The state that a host reports. All decisions about a host depend only on this. */
export type Inventory = Readonly<ReturnType<typeof parseInventory>>;

export const rebootPending = ({ rebootPendingSince, boot }: Inventory): boolean => rebootPendingSince === boot;

type InventoryOutcome = { readonly kind: 'read'; readonly inventory: Inventory } | UnreadableHost | Interrupted;

const deadline = 30_000;

export const readInventory = async (
  connection: Pick<HostConnection, 'run'>,
  signal?: AbortSignal,
  redact = hostRedactor({}),
): Promise<InventoryOutcome> => {
  const unreadable = (cause: string): UnreadableHost => ({ kind: 'unreadable host', cause: redact.text(cause) });
  const command = shellCommand(composeScript('inventory', { LOCK_OWNER: '', AS_ROOT: 'no' }), { asRoot: false });
  const outcome = await connection.run({ command, deadline }, signal);
  if (outcome.kind === 'command failed') {
    const how = outcome.code === undefined ? `signal ${outcome.signal ?? 'unknown'}` : `exit code ${outcome.code}`;
    return unreadable(`${how}: ${outcome.stderr.trim().slice(-500)}`);
  }
  if (outcome.kind !== 'done') return interruptedBy(outcome, 'inventory');
  try {
    return { kind: 'read', inventory: parseInventory(outcome.stdout) };
  } catch (error) {
    return unreadable(errorMessage(error));
  }
};

/** Throws a `SyntaxError` for an incomplete or invalid inventory. */
export const parseInventory = (text: string) => {
  const lines = text.split('\n').map((line) => line.split('\t'));
  if (lines.shift()?.join('\t') !== 'tartan-inventory\t1') throw new SyntaxError(`not an inventory: ${excerpt(text)}`);
  if (lines.pop()?.join() !== '' || lines.pop()?.join() !== 'end')
    throw new SyntaxError('an inventory without its end');

  const single = new Map<string, readonly string[]>();
  const stamps = new Map<string, string>();
  const artifacts = new Set<string>();
  for (const [key = '', ...values] of lines) {
    const shape = shapes[key];
    if (shape?.length !== values.length || !values.every((value, at) => shape[at]?.test(value))) {
      throw new SyntaxError(`no line of an inventory: ${excerpt([key, ...values].join('\t'))}`);
    }
    const [first = '', second = ''] = values;
    const known = key === 'stamp' ? stamps.has(first) : key === 'artifact' ? artifacts.has(first) : single.has(key);
    if (known) throw new SyntaxError(`twice in an inventory: ${key} ${first}`);
    if (key === 'stamp') stamps.set(first, second);
    else if (key === 'artifact') artifacts.add(first);
    else single.set(key, values);
  }
  const value = (key: string, at = 0): string => {
    const found = single.get(key)?.[at];
    if (found === undefined) throw new SyntaxError(`an inventory without ${key}`);
    return found;
  };
  return {
    /** The user of the connection. */
    user: { name: value('user'), uid: Number(value('user', 1)) },
    /** The user can run sudo without a password. */
    root: value('root') === 'yes',
    /** The host's clock, in seconds since the epoch. */
    time: Number(value('time')),
    /** Changes with each boot. */
    boot: value('boot'),
    macOS: value('macos'),
    arch: value('arch'),
    freeKiB: Number(value('free-kib')),
    consoleUser: value('console'),
    /** `on`, `off` or `unknown`. */
    fileVault: value('file-vault'),
    /** The release that `current` links to. */
    agentRelease: value('agent-release') || undefined,
    lock: single.has('lock') ? { owner: value('lock'), since: Number(value('lock', 1)) } : undefined,
    /** The boot in which a change was made that needs a reboot. */
    rebootPendingSince: single.get('reboot-pending')?.[0],
    stamps: Object.fromEntries(stamps),
    /** The artifacts in the store, by SHA-256. */
    artifacts,
  };
};

const word = /^[\x21-\x7e]+$/;
const number = /^\d+$/;
/** The values of each key. */
const shapes: Readonly<Record<string, readonly RegExp[]>> = {
  user: [word, number],
  root: [/^(yes|no)$/],
  time: [number],
  boot: [word],
  macos: [/^\d+(\.\d+)*$/],
  arch: [word],
  'free-kib': [number],
  console: [word],
  'file-vault': [/^(on|off|unknown)$/],
  'agent-release': [/^[\x21-\x7e]*$/],
  lock: [/^[\x20-\x7e]+$/, number],
  // A partially written file is empty, and equals no value.
  'reboot-pending': [/^[\x21-\x7e]*$/],
  stamp: [/^[a-z0-9-]+$/, /^[\x20-\x7e]*$/],
  artifact: [/^[0-9a-f]{64}$/],
};

const excerpt = (text: string): string => JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);
