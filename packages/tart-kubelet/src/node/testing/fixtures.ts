import type { Live } from '@tartan/kube';
import type { Facts, HostFacts } from '../../facts/host-facts.ts';
import type { Node, NodeConfig } from '../observe.ts';

export const exampleNodeConfig: NodeConfig = {
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
  processes: { running: 400, limit: 4000 },
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
  tartVersion: '2.32.1',
  dhcpLeaseSeconds: 600,
  address: '10.0.0.7',
};

/** A Mac with the current values of `facts`, or with a test's own methods. */
export const fakeHostFacts = (facts: { -readonly [Name in keyof Facts]: Facts[Name] }): HostFacts => {
  const factOrThrow =
    <Name extends keyof Facts>(name: Name) =>
    async (): Promise<NonNullable<Facts[Name]>> => {
      const value = facts[name];
      if (value === undefined) throw new Error(`nobody knows ${name}`);
      return value;
    };
  return {
    disk: factOrThrow('disk'),
    guestDisks: factOrThrow('guestDisks'),
    memory: factOrThrow('memory'),
    processes: factOrThrow('processes'),
    guiSession: factOrThrow('guiSession'),
    slots: factOrThrow('slots'),
    vmStart: factOrThrow('vmStart'),
    images: factOrThrow('images'),
    labels: factOrThrow('labels'),
    system: factOrThrow('system'),
    tartVersion: factOrThrow('tartVersion'),
    dhcpLeaseSeconds: factOrThrow('dhcpLeaseSeconds'),
    address: factOrThrow('address'),
  };
};

/** A Node as a server stores it. */
export const storedNode = (node: Node): Live<Node> => ({
  ...node,
  metadata: {
    ...node.metadata,
    name: 'mac-1',
    uid: 'u',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
});
