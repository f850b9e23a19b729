import type { Labels } from '../flags/node-labels.ts';
import type { StartVerdict } from '../starts/evidence.ts';

/** Free is what a process of ours could still take. */
export interface Disk {
  readonly freeBytes: number;
  readonly totalBytes: number;
}

/** The system disk of a running virtual machine, seen from inside: the host's own figures do not show that it is full (INC-39). */
export interface GuestDisk {
  readonly vm: string;
  readonly usedPercent: number;
}

/** What `kern.memorystatus_vm_pressure_level` tells. How much is free says little: virtual machines take most of it by intent. */
export type MemoryLevel = 'normal' | 'warning' | 'critical';

export interface Processes {
  readonly running: number;
  readonly most: number;
}

export interface Slots {
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
  disk(signal: AbortSignal): Promise<Disk>;
  guestDisks(signal: AbortSignal): Promise<readonly GuestDisk[]>;
  memory(signal: AbortSignal): Promise<MemoryLevel>;
  processes(signal: AbortSignal): Promise<Processes>;
  /** Whether somebody is logged in at the console: without, no virtual machine starts (INC-06). */
  guiSession(signal: AbortSignal): Promise<boolean>;
  slots(signal: AbortSignal): Promise<Slots>;
  /** Whether virtual machines can start, by those that were tried since the Mac booted. */
  vmStart(signal: AbortSignal): Promise<StartVerdict>;
  images(signal: AbortSignal): Promise<readonly LocalImage[]>;
  /** Labels that come and go with what is on the disk. */
  labels(signal: AbortSignal): Promise<Labels>;
  system(signal: AbortSignal): Promise<SystemInfo>;
  /** The version of tart, which proves that there is one that works. */
  runtime(signal: AbortSignal): Promise<string>;
  /** How long a guest keeps its address, also after it is gone: there are only so many of them (G28). */
  leaseSeconds(signal: AbortSignal): Promise<number>;
  /** IPv4. */
  address(signal: AbortSignal): Promise<string>;
}

/** The last that was known of each. What was never known is absent. */
export type Facts = { readonly [Name in keyof HostFacts]?: Awaited<ReturnType<HostFacts[Name]>> };
