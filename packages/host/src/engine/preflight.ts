import type { Preparation } from '../host-spec.ts';
import type { Inventory } from './inventory.ts';
import type { Action } from './plan.ts';

/** Why no step can make this host ours, and what a person can do about it. */
export interface PreflightFailure {
  readonly what: string;
  readonly advice: string;
}

/** Ventura: the first whose Virtualization framework does what tart needs. */
const minMacOS = 13;
/** Certificates and join tokens are refused beyond that. */
const maxClockSkewSeconds = 300;
/** For small files and logs. What a host with full images needs least is to be refused a new agent. */
const minFreeKiB = 256 * 1024;

/** What is wrong with a host before the first change to it. `now`: our clock in milliseconds. */
export const preflight = (
  inventory: Inventory,
  spec: Preparation,
  actions: readonly Action[],
  now: number,
): PreflightFailure[] => {
  const { arch, macOS, user, fileVault, freeKiB, time, root } = inventory;
  const missing = actions.flatMap(({ needs }) => needs).filter(({ sha256 }) => !inventory.artifacts.has(sha256));
  const bytes = missing.reduce((sum, { size }) => sum + size, 0);
  // Once in the store, and about three times that unpacked: tart and the runner are compressed.
  const neededKiB = minFreeKiB + Math.ceil((4 * bytes) / 1024);
  const skew = Math.abs(time - now / 1000);
  const objections: readonly (readonly [boolean, string, string])[] = [
    [
      arch !== 'arm64',
      `its processor is ${arch}`,
      'Only Macs with Apple silicon run these virtual machines: take another host.',
    ],
    [
      Number.parseInt(macOS, 10) < minMacOS,
      `it runs macOS ${macOS}`,
      `Install macOS ${minMacOS} or newer: for a host of the pool, reinstall it.`,
    ],
    [
      user.name !== spec.user,
      `the connection is for ${user.name}, and the host is to be run by ${spec.user}`,
      'One user logs in over SSH, owns the console and runs the agent: connect as that user, or name it in the specification.',
    ],
    [
      fileVault === 'on',
      'FileVault is on, so nobody is logged in after a reboot',
      'Turn it off with "sudo fdesetup disable", wait until it is done, and try again.',
    ],
    [
      freeKiB < neededKiB,
      `${gibibytes(freeKiB)} of its disk are free, and ${gibibytes(neededKiB)} are needed`,
      'Delete images or virtual machines with "tart prune" and "tart delete", or reinstall the host.',
    ],
    [
      skew > maxClockSkewSeconds,
      `its clock and ours are ${Math.round(skew)} seconds apart`,
      'Set it with "sudo sntp -sS time.apple.com", or mend the clock on this side.',
    ],
    [
      !root && actions.length > 0 && !actions.some(({ step }) => step.unprivileged === true),
      'there is no root without a password',
      'Prepare it with "tartan prepare-host".',
    ],
  ];
  return objections.filter(([applies]) => applies).map(([, what, advice]) => ({ what, advice }));
};

const gibibytes = (kibibytes: number): string => `${(kibibytes / 1024 / 1024).toFixed(1)} GiB`;
