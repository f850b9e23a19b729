import { statfs } from 'node:fs/promises';
import { isIPv4 } from 'node:net';
import { type NetworkInterfaceInfo, networkInterfaces, release } from 'node:os';
import type { Clock } from '@tartan/kube/clock';
import type { AgentOptions } from '../flags/flags.ts';
import { hasAquaSession } from '../vm-start/console-session.ts';
import type { HostFacts, MemoryPressureLevel, SystemInfo } from './host-facts.ts';
import { type RunCommand, runCommand } from './run-command.ts';

/** macOS' setting for the lease time of guests; bootpd reads it when the first VM starts. */
const dhcpSettingsPath = '/Library/Preferences/SystemConfiguration/com.apple.InternetSharing.default.plist';
/** macOS' default: a day. */
const defaultLeaseSeconds = 86_400;

const leaseTimePattern = /DHCPLeaseTimeSecs"?\s*=\s*"?(\d+)/;

/** Exit code of `defaults` for a missing file or key. */
const isMissing = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 1;

/** How many seconds a guest's address is reserved, even after the guest is gone. Rejects when it cannot be read. */
const readDhcpLeaseSeconds = (run: RunCommand, root: string, signal: AbortSignal): Promise<number> =>
  run('defaults', ['read', `${root}${dhcpSettingsPath}`, 'bootpd'], signal).then(
    (text) => Number(leaseTimePattern.exec(text)?.[1] ?? defaultLeaseSeconds),
    (error: unknown) => {
      if (isMissing(error)) return defaultLeaseSeconds;
      throw error;
    },
  );

/** `"IOPlatformUUID" = "4C4C4544-…"`, in a longer output. */
const hardwareUUID = /"IOPlatformUUID"\s*=\s*"([^"]+)"/;

/** Hardware and OS of this Mac. Unknown fields are empty; rejects without the macOS version. */
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

/** VM interfaces: only VMs can reach their addresses. */
const vmInterfaces = /^(bridge|vmnet)/;

/** The first address of this Mac that others can reach, according to its interfaces. */
export const firstAddress = (interfaces: Interfaces): string | undefined =>
  Object.entries(interfaces)
    .filter(([name]) => !vmInterfaces.test(name))
    .flatMap(([, addresses = []]) => addresses)
    .find(({ address, family, internal }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'))
    ?.address;

/**
 * The Node's address. With the tailnet as source there is no fallback: a Mac that is only reachable there must not publish its public
 * address.
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

/** Facts about VMs and images. */
export type TartFacts = Pick<HostFacts, 'guestDisks' | 'slots' | 'images' | 'labels' | 'tartVersion'>;

export interface MacFactsOptions {
  readonly options: Pick<AgentOptions, 'nodeIP' | 'nodeIPSource'>;
  /** Prefix of every path of the Mac: empty except in a simulation. */
  readonly root: string;
  /** The user of the console session that VMs run in. */
  readonly uid: number;
  readonly tart: TartFacts;
  readonly clock: Clock;
  readonly run?: RunCommand;
}

const pressureLevels: Readonly<Record<string, MemoryPressureLevel>> = { 1: 'normal', 2: 'warning', 4: 'critical' };

/** Caches a value that costs a process and rarely changes. Failures are not cached. */
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

/** The facts of a real Mac, except `vmStart`, which the code that starts VMs knows. */
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
      if (level === undefined) throw new Error('macOS reports an unknown level of memory pressure');
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
