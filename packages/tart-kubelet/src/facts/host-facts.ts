import type { Logger } from '@tartan/kube';
import { type Clock, sleep, withTimeout } from '@tartan/kube/clock';
import type { Labels } from '../flags/node-labels.ts';
import type { StartHealth } from '../vm-start/start-health.ts';

/** Free is what a process of ours could still take. */
export interface DiskUsage {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The system disk of a running virtual machine, seen from inside: the host's own figures do not show that it is full (INC-39). */
export interface GuestDiskUsage {
  readonly vm: string;
  readonly usedPercent: number;
}

/** What `kern.memorystatus_vm_pressure_level` tells. How much is free says little: virtual machines take most of it by intent. */
export type MemoryPressureLevel = 'normal' | 'warning' | 'critical';

interface ProcessCount {
  readonly running: number;
  readonly limit: number;
}

export interface VmSlots {
  /** By any live virtual machine, whoever started it. */
  readonly taken: number;
  readonly total: number;
}

export interface LocalImage {
  /** All names that it goes by, such as `ghcr.io/a/b@sha256:…`. */
  readonly names: readonly string[];
  readonly sizeBytes: number;
}

export interface SystemInfo {
  /** `macOS 26.1 (25B78)`. */
  readonly osImage: string;
  readonly kernelVersion: string;
  readonly machineID: string;
  readonly systemUUID: string;
  /** Another one after each boot. */
  readonly bootID: string;
}

/**
 * What is so on this Mac. Every method only looks, may be slow, may hang, and may fail: whoever asks waits no longer than it likes, and
 * goes on with what it knew. None is asked again while it is still busy.
 */
export interface HostFacts {
  /** Of the file system that virtual machines lie on. */
  disk(signal: AbortSignal): Promise<DiskUsage>;
  guestDisks(signal: AbortSignal): Promise<readonly GuestDiskUsage[]>;
  memory(signal: AbortSignal): Promise<MemoryPressureLevel>;
  processes(signal: AbortSignal): Promise<ProcessCount>;
  /** Whether somebody is logged in at the console: without, no virtual machine starts (INC-06). */
  guiSession(signal: AbortSignal): Promise<boolean>;
  slots(signal: AbortSignal): Promise<VmSlots>;
  /** Whether virtual machines can start, by those that were tried since the Mac booted. */
  vmStart(signal: AbortSignal): Promise<StartHealth>;
  images(signal: AbortSignal): Promise<readonly LocalImage[]>;
  /** Labels that come and go with what is on the disk. */
  labels(signal: AbortSignal): Promise<Labels>;
  system(signal: AbortSignal): Promise<SystemInfo>;
  /** The version of tart, which proves that there is one that works. */
  tartVersion(signal: AbortSignal): Promise<string>;
  /** How long a guest keeps its address, also after it is gone: there are only so many of them (INC-428). */
  dhcpLeaseSeconds(signal: AbortSignal): Promise<number>;
  /** IPv4. */
  address(signal: AbortSignal): Promise<string>;
}

/** The last that was known of each. What was never known is absent. */
export type Facts = { readonly [Name in keyof HostFacts]?: Awaited<ReturnType<HostFacts[Name]>> };

/** A pass over the Node waits this long for facts. What comes later is for the next one. */
const waitMs = 2_000;
/** After this time a reading is aborted. */
const deadlineMs = 30_000;

/**
 * Asks all of them at once, each on its own: one that is slow, fails or hangs costs its own freshness and nothing else (INC-12, INC-43). A
 * label or condition does not flap because one look failed.
 */
export const createFactsCache = (host: HostFacts, clock: Clock, log: Logger) => {
  let known: Facts = {};
  const pending = new Map<keyof HostFacts, Promise<void>>();
  const failing = new Set<keyof HostFacts>();

  const collect = async (name: keyof HostFacts, signal: AbortSignal): Promise<void> => {
    try {
      const value = await withTimeout<unknown>(clock, deadlineMs, (limited) => host[name](limited), signal);
      known = { ...known, [name]: value };
      if (failing.delete(name)) log.info('A fact about the host is known again', { fact: name });
    } catch (error) {
      if (signal.aborted || failing.has(name)) return;
      failing.add(name);
      log.warn('A fact about the host cannot be had; the last one known counts', { fact: name, error });
    } finally {
      pending.delete(name);
    }
  };
  const names: readonly (keyof HostFacts)[] = [
    'disk',
    'guestDisks',
    'memory',
    'processes',
    'guiSession',
    'slots',
    'vmStart',
    'images',
    'labels',
    'system',
    'tartVersion',
    'dhcpLeaseSeconds',
    'address',
  ];

  return {
    /** All facts as fresh as they can be had in a moment. Never rejects. */
    refresh: async (signal: AbortSignal) => {
      for (const name of names) if (!pending.has(name)) pending.set(name, collect(name, signal));
      const all = new AbortController();
      void Promise.all(pending.values()).then(() => all.abort());
      await sleep(clock, waitMs, AbortSignal.any([signal, all.signal]));
      return known;
    },
  };
};

export type FactsCache = ReturnType<typeof createFactsCache>;
