import type { Preparation } from '../host-spec.ts';
import type { Inventory } from './inventory.ts';
import type { Action } from './plan.ts';

/** Why a host is unsuitable, and what to do. */
export interface PreflightFailure {
  readonly what: string;
  readonly advice: string;
}

/** Ventura is the first whose Virtualization framework has what tart needs. */
const minMacOS = 13;
/** Beyond that, certificates and join tokens are refused. */
const maxClockSkewSeconds = 300;
/** For small files and logs. Kept low, so that a host with a full disk still gets a new agent. */
const minFreeKiB = 256 * 1024;

/** Checks a host before the first change. `now`: our clock in milliseconds. */
export const preflight = (
  inventory: Inventory,
  spec: Preparation,
  actions: readonly Action[],
  now: number,
): PreflightFailure[] => {
  const { arch, macOS, user, fileVault, freeKiB, time, root } = inventory;
  const missing = actions.flatMap(({ needs }) => needs).filter(({ sha256 }) => !inventory.artifacts.has(sha256));
  const bytes = missing.reduce((sum, { size }) => sum + size, 0);
  // Once in the store, and about three times that when unpacked: tart and the runner are compressed.
  const neededKiB = minFreeKiB + Math.ceil((4 * bytes) / 1024);
  const skew = Math.abs(time - now / 1000);
  const objections: readonly (readonly [boolean, string, string])[] = [
    [arch !== 'arm64', `its processor is ${arch}`, 'Virtual machines of macOS need Apple silicon: use another host.'],
    [
      Number.parseInt(macOS, 10) < minMacOS,
      `it runs macOS ${macOS}`,
      `Install macOS ${minMacOS} or newer; reinstall a host of the pool.`,
    ],
    [
      user.name !== spec.user,
      `the SSH user is ${user.name}, and the specification names ${spec.user}`,
      'One user logs in over SSH, owns the console session and runs the agent: connect as that user, or change the specification.',
    ],
    [
      fileVault === 'on',
      'FileVault is on, so no user is logged in after a reboot',
      'Turn it off with "sudo fdesetup disable", wait until the disk is decrypted, and try again.',
    ],
    [
      freeKiB < neededKiB,
      `its disk has ${gibibytes(freeKiB)} free, and ${gibibytes(neededKiB)} are needed`,
      'Delete images or virtual machines with "tart prune" and "tart delete", or reinstall the host.',
    ],
    [
      skew > maxClockSkewSeconds,
      `its clock differs from ours by ${Math.round(skew)} seconds`,
      'Set it with "sudo sntp -sS time.apple.com", or correct our clock.',
    ],
    [
      !root && actions.length > 0 && !actions.some(({ step }) => step.unprivileged === true),
      'sudo needs a password',
      'Prepare it with "tartan prepare-host".',
    ],
  ];
  return objections.filter(([applies]) => applies).map(([, what, advice]) => ({ what, advice }));
};

const gibibytes = (kibibytes: number): string => `${(kibibytes / 1024 / 1024).toFixed(1)} GiB`;
