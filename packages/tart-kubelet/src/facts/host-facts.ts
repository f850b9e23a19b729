import type { Logger } from '@tartan/kube';
import { type Clock, sleep, withTimeout } from '@tartan/kube/clock';
import type { Labels } from '../flags/node-labels.ts';
import type { StartHealth } from '../vm-start/start-health.ts';

/** `freeBytes`: available to our processes. */
export interface DiskUsage {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The system disk of a running VM, measured in the guest: the host cannot see that it is full (INC-39). */
export interface GuestDiskUsage {
  readonly vm: string;
  readonly usedPercent: number;
}

/** From `kern.memorystatus_vm_pressure_level`. Free memory says little, as VMs take most of it by design. */
export type MemoryPressureLevel = 'normal' | 'warning' | 'critical';

interface ProcessCount {
  readonly running: number;
  readonly limit: number;
}

export interface VmSlots {
  /** All running VMs, whether this agent started them or not. */
  readonly taken: number;
  readonly total: number;
}

export interface LocalImage {
  /** All its names, such as `ghcr.io/a/b@sha256:…`. */
  readonly names: readonly string[];
  readonly sizeBytes: number;
}

export interface SystemInfo {
  /** `macOS 26.1 (25B78)`. */
  readonly osImage: string;
  readonly kernelVersion: string;
  readonly machineID: string;
  readonly systemUUID: string;
  /** Changes with each boot. */
  readonly bootID: string;
}

/**
 * Facts about this Mac. Methods have no side effects, may be slow, hang or fail: the caller limits its wait and keeps the last value. A
 * method is not called again while a call is pending.
 */
export interface HostFacts {
  /** Of the file system with the VMs. */
  disk(signal: AbortSignal): Promise<DiskUsage>;
  guestDisks(signal: AbortSignal): Promise<readonly GuestDiskUsage[]>;
  memory(signal: AbortSignal): Promise<MemoryPressureLevel>;
  processes(signal: AbortSignal): Promise<ProcessCount>;
  /** Whether a user is logged in at the console: otherwise no VM starts (INC-06). */
  guiSession(signal: AbortSignal): Promise<boolean>;
  slots(signal: AbortSignal): Promise<VmSlots>;
  /** Whether VMs can start, judged by the starts since the Mac booted. */
  vmStart(signal: AbortSignal): Promise<StartHealth>;
  images(signal: AbortSignal): Promise<readonly LocalImage[]>;
  /** Labels that depend on the content of the disk. */
  labels(signal: AbortSignal): Promise<Labels>;
  system(signal: AbortSignal): Promise<SystemInfo>;
  /** The version of tart; also proves that tart works. */
  tartVersion(signal: AbortSignal): Promise<string>;
  /** How long the DHCP server reserves a guest's address, even after the guest is gone: addresses are limited (INC-428). */
  dhcpLeaseSeconds(signal: AbortSignal): Promise<number>;
  /** IPv4. */
  address(signal: AbortSignal): Promise<string>;
}

/** The last known value of each fact; absent if it was never known. */
export type Facts = { readonly [Name in keyof HostFacts]?: Awaited<ReturnType<HostFacts[Name]>> };

/** How long a Node reconcile waits for facts. Later results are for the next one. */
const waitMs = 2_000;
/** A reading is aborted after this time. */
const deadlineMs = 30_000;

/**
 * Reads all facts in parallel: one that is slow, fails or hangs affects only its own freshness (INC-12, INC-43). Labels and conditions do
 * not flap because one reading failed.
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
    /** Refreshes all facts within a short time. Never rejects. */
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
