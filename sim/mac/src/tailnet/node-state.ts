import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { existsSync } from 'node:fs';
import type { Machine } from '../machine.ts';
import { putFile, textOf } from '../tools/state-file.ts';

/** What a node keeps on its disk: it survives the daemon and a reboot, and goes with a reinstall. */
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
    return { ...newNode, ...(JSON.parse(textOf(file) ?? '{}') as Partial<NodeState>) };
  } catch {
    return newNode;
  }
};

export const writeNode = (machine: Machine, file: string, state: NodeState): boolean =>
  existsSync(dirname(file)) && putFile(machine, file, JSON.stringify(state), 0o600);

/** Of 100.64.0.0/10. Another Mac, or another join of this one, has another. */
export const newAddress = (machine: Machine): string => {
  const [a = 0, b = 0, c = 0] = createHash('sha256').update(`${machine.root} ${machine.clock.now()}`).digest();
  return `100.${64 + (a % 64)}.${b}.${1 + (c % 254)}`;
};

export type Backend = 'Running' | 'NeedsLogin' | 'Stopped';

export const backendOf = ({ address, wantRunning }: NodeState): Backend =>
  address === undefined ? 'NeedsLogin' : wantRunning ? 'Running' : 'Stopped';
