import type { Live } from '@tartan/kube';
import type { Facts, HostFacts } from '../host-facts.ts';
import type { Node } from '../snapshot.ts';
import type { Wanted } from '../wanted.ts';

export const exampleWanted: Wanted = {
  nodeName: 'mac-1',
  providerID: 'scw-applesilicon://fr-par-1/1111',
  nodeLabels: { 'tuist.dev/fleet': 'runners' },
  hostCPU: 8,
  hostMemoryMB: 14_336,
  maxPods: 3,
  port: 10_250,
  kubeletVersion: 'v1.36.3',
  agentVersion: 'v0.1.0',
};

const gib = 1024 ** 3;

export const exampleFacts: Required<Facts> = {
  disk: { freeBytes: 100 * gib, totalBytes: 460 * gib },
  guestDisks: [{ vm: 'vm-1', usedPercent: 40 }],
  memory: 'normal',
  processes: { running: 400, most: 4000 },
  guiSession: true,
  slots: { taken: 1, total: 2 },
  vmStart: { kind: 'works' },
  images: [{ names: ['ghcr.io/a/b@sha256:1'], sizeBytes: 30 * gib }],
  labels: { 'tuist.dev/golden-0123456789abcdef': 'true' },
  system: {
    osImage: 'macOS 26.1 (25B78)',
    kernelVersion: '25.1.0',
    machineID: 'M-1',
    systemUUID: 'U-1',
    bootID: 'B-1',
  },
  runtime: '2.32.1',
  leaseSeconds: 600,
  address: '10.0.0.7',
};

/** A Mac of which every fact is what `facts` says at that moment, or what a test makes of it. */
export const playedHost = (facts: { -readonly [Name in keyof Facts]: Facts[Name] }): HostFacts => {
  const told =
    <Name extends keyof Facts>(name: Name) =>
    async (): Promise<NonNullable<Facts[Name]>> => {
      const value = facts[name];
      if (value === undefined) throw new Error(`nobody knows ${name}`);
      return value;
    };
  return {
    disk: told('disk'),
    guestDisks: told('guestDisks'),
    memory: told('memory'),
    processes: told('processes'),
    guiSession: told('guiSession'),
    slots: told('slots'),
    vmStart: told('vmStart'),
    images: told('images'),
    labels: told('labels'),
    system: told('system'),
    runtime: told('runtime'),
    leaseSeconds: told('leaseSeconds'),
    address: told('address'),
  };
};

/** A Node as a server holds it. */
export const live = (node: Node): Live<Node> => ({
  ...node,
  metadata: {
    ...node.metadata,
    name: 'mac-1',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
});
