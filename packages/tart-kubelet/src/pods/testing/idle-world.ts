import { type Client, createLogger } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Tart } from '@tartan/tart';
import { createHolds } from '../../images/holds.ts';
import type { PodsOptions } from '../controller.ts';

const never = <T>(): Promise<T> => new Promise(() => {});
const unasked = (what: string) => (): never => {
  throw new Error(`${what}, on a Mac where no virtual machine is ever made`);
};
const tart: Tart = {
  version: unasked('tart --version'),
  list: unasked('tart list'),
  get: unasked('tart get'),
  pull: unasked('tart pull'),
  clone: unasked('tart clone'),
  set: unasked('tart set'),
  run: unasked('tart run'),
  stop: unasked('tart stop'),
  delete: unasked('tart delete'),
  ip: unasked('tart ip'),
  exec: unasked('tart exec'),
};

/** A Mac to which no image ever comes: Pods arrive, wait, and go, and nothing but the server is ever asked. */
export const idleWorld = (client: Client, nodeName: string, clock: Clock): PodsOptions => ({
  client,
  nodeName,
  clock,
  workers: 8,
  vmSlots: 100,
  hostIP: () => '10.0.0.1',
  agentVersion: 'v0.0.0-test',
  tart,
  tartPaths: ['/nowhere/tart'],
  vmsFolder: '/nowhere/vms',
  leases: '/nowhere/leases',
  processes: { list: async () => [], find: async () => undefined },
  recentProcesses: async () => [],
  journal: {
    list: async () => [],
    read: async () => undefined,
    write: unasked('a record'),
    draft: unasked('a draft'),
    remove: async () => {},
  },
  ensureGolden: never,
  pullCredentials: async () => ({ credentials: undefined, problems: [] }),
  usedGolden: () => {},
  holds: createHolds(),
  guests: {
    prepare: unasked('a guest'),
    renewTokens: async () => undefined,
    report: async () => undefined,
    markers: unasked('markers'),
    statusFolder: () => '/nowhere/status',
    remove: async () => {},
    list: async () => [],
  },
  runs: {
    prepare: unasked('a run'),
    start: unasked('a start'),
    follow: unasked('a process'),
    remains: async () => ({ started: false, ending: { kind: 'unknown' } }),
    takeBack: unasked('a start'),
    finish: async () => {},
    isFinished: () => true,
    remove: async () => {},
  },
  starts: { refused: async () => {}, worked: async () => {} },
  session: { isThere: async () => true, ensure: async () => {} },
  events: { event: () => {} },
  random: () => 0.5,
  log: createLogger({ write: () => {}, clock, level: 'error' }),
});
