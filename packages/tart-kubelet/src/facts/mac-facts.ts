import { statfs } from 'node:fs/promises';
import { isIPv4 } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces, release } from 'node:os';
import type { Clock } from '@tartan/kube/clock';
import type { AgentOptions } from '../flags/flags.ts';
import { hasAquaSession } from '../vm-start/console-session.ts';
import type { HostFacts, MemoryPressureLevel, SystemInfo } from './host-facts.ts';
import { type RunCommand, runCommand } from './run-command.ts';

/** Where macOS looks for how long guests keep an address; bootpd reads it when the first virtual machine starts. */
const dhcpSettingsPath = '/Library/Preferences/SystemConfiguration/com.apple.InternetSharing.default.plist';
/** What macOS takes when nobody has said anything: a day. */
const defaultLeaseSeconds = 86_400;

const leaseTimePattern = /DHCPLeaseTimeSecs"?\s*=\s*"?(\d+)/;

/** defaults ended by itself: there is no such file, or no such key in it. */
const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 1;

/** How many seconds a guest keeps its address, also after it is gone. Rejects when nobody can tell. */
const readDhcpLeaseSeconds = (run: RunCommand, root: string, signal: AbortSignal): Promise<number> =>
  run('defaults', ['read', `${root}${dhcpSettingsPath}`, 'bootpd'], signal).then(
    (text) => Number(leaseTimePattern.exec(text)?.[1] ?? defaultLeaseSeconds),
    (error: unknown) => {
      if (isMissing(error)) return defaultLeaseSeconds;
      throw error;
    },
  );

/** `"IOPlatformUUID" = "4C4C4544-…"`, among much else. */
const hardwareUUID = /"IOPlatformUUID"\s*=\s*"([^"]+)"/;

/** Which Mac this is and what runs on it. What cannot be had is empty; without the version of macOS it is nothing. */
const readSystemInfo = async (run: RunCommand, signal: AbortSignal): Promise<SystemInfo> => {
  const unlessMissing = (found: Promise<string>): Promise<string> => found.catch(() => '');
  const [version, build, bootID, hardware] = await Promise.all([
    run('sw_vers', ['-productVersion'], signal),
    run('sw_vers', ['-buildVersion'], signal),
    unlessMissing(run('sysctl', ['-n', 'kern.bootsessionuuid'], signal)),
    unlessMissing(run('ioreg', ['-rd1', '-c', 'IOPlatformExpertDevice'], signal)),
  ]);
  const uuid = hardwareUUID.exec(hardware)?.[1] ?? '';
  return {
    osImage: `macOS ${version} (${build})`,
    kernelVersion: release(),
    machineID: uuid,
    systemUUID: uuid,
    bootID,
  };
};

type Interfaces = Readonly<
  Record<string, readonly Pick<NetworkInterfaceInfo, 'address' | 'family' | 'internal'>[] | undefined>
>;

/** Those of virtual machines: an address there is one that only they can reach. */
const vmInterfaces = /^(bridge|vmnet)/;

/** The first address by which others can reach this Mac, as far as its interfaces tell. */
export const firstAddress = (interfaces: Interfaces): string | undefined =>
  Object.entries(interfaces)
    .filter(([name]) => !vmInterfaces.test(name))
    .flatMap(([, addresses = []]) => addresses)
    .find(({ address, family, internal }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'))
    ?.address;

/**
 * The address of the Node. From the tailnet it comes from there or not at all: a Mac that is to be reached there only must not publish
 * the address that the whole internet sees.
 */
const nodeAddress = async (
  { nodeIP, nodeIPSource }: MacFactsOptions['options'],
  run: RunCommand,
  tailscale: string,
  signal: AbortSignal,
): Promise<string> => {
  if (nodeIP !== undefined) return nodeIP;
  const isTailscale = nodeIPSource === 'tailscale';
  const found = isTailscale
    ? (await run(tailscale, ['ip', '-4'], signal)).split(/\s+/).find((word) => isIPv4(word))
    : firstAddress(networkInterfaces());
  if (found !== undefined) return found;
  throw new Error(isTailscale ? 'tailscale has no IPv4 address yet' : 'no network interface has an address');
};

/** What tells of virtual machines and images. Comes from whoever looks after those. */
export type TartFacts = Pick<HostFacts, 'guestDisks' | 'slots' | 'images' | 'labels' | 'tartVersion'>;

export interface MacFactsOptions {
  readonly options: Pick<AgentOptions, 'nodeIP' | 'nodeIPSource'>;
  /** Before every path of the Mac: nothing but on a simulated one. */
  readonly root: string;
  /** Whose console session virtual machines run in. */
  readonly uid: number;
  readonly tart: TartFacts;
  readonly clock: Clock;
  readonly run?: RunCommand;
}

const pressureLevels: Readonly<Record<string, MemoryPressureLevel>> = { 1: 'normal', 2: 'warning', 4: 'critical' };

/** An answer that costs a process, and seldom changes, is asked for again only after that time. A failure is not kept. */
const cachedFor = <T>(
  clock: Clock,
  milliseconds: number,
  read: (signal: AbortSignal) => Promise<T>,
): ((signal: AbortSignal) => Promise<T>) => {
  let cached: { readonly value: T; readonly since: number } | undefined;
  return async (signal) => {
    if (cached !== undefined && clock.monotonic() - cached.since < milliseconds) return cached.value;
    const value = await read(signal);
    cached = { value, since: clock.monotonic() };
    return value;
  };
};

const minute = 60_000;

/** The facts of a real Mac. Whether virtual machines start is known to those who start them. */
export const createMacFacts = ({
  options,
  root,
  uid,
  tart,
  clock,
  run = runCommand,
}: MacFactsOptions): Omit<HostFacts, 'vmStart'> => {
  const tailscale = `${root}/usr/local/bin/tailscale`;
  return {
    ...tart,
    tartVersion: cachedFor(clock, 5 * minute, (signal) => tart.tartVersion(signal)),
    disk: async () => {
      const { bavail, blocks, bsize } = await statfs(root === '' ? '/' : root);
      return { freeBytes: bavail * bsize, totalBytes: blocks * bsize };
    },
    memory: async (signal) => {
      const level = pressureLevels[await run('sysctl', ['-n', 'kern.memorystatus_vm_pressure_level'], signal)];
      if (level === undefined) throw new Error('macOS names a level of memory pressure that nobody knows');
      return level;
    },
    processes: cachedFor(clock, minute, async (signal) => {
      const [limit, list] = await Promise.all([
        run('sysctl', ['-n', 'kern.maxproc'], signal),
        run('ps', ['-axo', 'pid='], signal),
      ]);
      return { running: list.split('\n').length, limit: Number.parseInt(limit, 10) || 0 };
    }),
    guiSession: (signal) => hasAquaSession(run, uid, signal),
    system: cachedFor(clock, 60 * minute, (signal) => readSystemInfo(run, signal)),
    dhcpLeaseSeconds: cachedFor(clock, 60 * minute, (signal) => readDhcpLeaseSeconds(run, root, signal)),
    address: (signal) => nodeAddress(options, run, tailscale, signal),
  };
};
