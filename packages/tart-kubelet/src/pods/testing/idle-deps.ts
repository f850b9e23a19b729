import { type Client, createLogger } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Tart } from '@tartan/tart';
import { createHolds } from '../../images/holds.ts';
import type { PodControllerOptions } from '../controller.ts';

const never = <T>(): Promise<T> => new Promise(() => {});
const unexpected = (what: string) => (): never => {
  throw new Error(`${what}, on a Mac where no virtual machine is ever made`);
};
const tart: Tart = {
  version: unexpected('tart --version'),
  list: unexpected('tart list'),
  get: unexpected('tart get'),
  pull: unexpected('tart pull'),
  clone: unexpected('tart clone'),
  set: unexpected('tart set'),
  run: unexpected('tart run'),
  stop: unexpected('tart stop'),
  delete: unexpected('tart delete'),
  ip: unexpected('tart ip'),
  exec: unexpected('tart exec'),
};

/** A Mac to which no image ever comes: Pods arrive, wait, and go, and nothing but the server is ever asked. */
export const idleDeps = (client: Client, nodeName: string, clock: Clock): PodControllerOptions => ({
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
  dhcpLeases: '/nowhere/leases',
  processes: { list: async () => [], find: async () => undefined },
  journal: {
    list: async () => [],
    read: async () => undefined,
    write: unexpected('a record'),
    remove: async () => {},
  },
  ensureGolden: never,
  pullCredentials: async () => ({ credentials: undefined, problems: [] }),
  markGoldenUsed: () => {},
  holds: createHolds(),
  guests: {
    prepare: unexpected('a guest'),
    renewTokens: async () => undefined,
    result: async () => undefined,
    runnerMarkers: unexpected('markers'),
    statusFolder: () => '/nowhere/status',
    remove: async () => {},
    list: async () => [],
  },
  runs: {
    start: unexpected('a start'),
    watch: unexpected('a process'),
    lastRun: async () => ({ started: false, ending: { kind: 'unknown' } }),
    undoStart: unexpected('a start'),
    finishLog: async () => {},
    isLogFinished: () => true,
    removeLogs: async () => {},
  },
  startRecorder: { recordRefusal: async () => {}, recordSuccess: async () => {} },
  session: { exists: async () => true, ensure: async () => {} },
  events: { event: () => {} },
  random: () => 0.5,
  log: createLogger({ write: () => {}, clock, level: 'error' }),
});
