import type { Clock } from '@tartan/kube/clock';
import type { Faults } from './faults.ts';
import type { Journal, MacUser } from './machine.ts';
import type { PacketFilter } from './pf/packet-filter.ts';

export interface MacOptions {
  /** Folder for its disk; created if missing. A Mac that is already installed there just boots. */
  readonly folder: string;
  readonly clock?: Clock;
  /** 1 is as slow as a real Mac; with 0.01 ten seconds take a tenth of one. Also applies to `sleep` on the Mac. */
  readonly pace?: number;
  /** The password applies to a new installation; an installed Mac keeps its own. */
  readonly user?: Partial<MacUser>;
  /**
   * Public keys that may log in, in OpenSSH format: injected at first boot, and at each reinstall. Default: as at the last installation.
   */
  readonly authorizedKeys?: readonly string[];
  /** Port of sshd on 127.0.0.1; 0 takes a free one. Stays the same for the life of this object. */
  readonly port?: number;
  /** Additional environment variables of every process of this Mac. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Records the arguments of every process that a script starts in the journal (`argv`): slower, for tests that search for secrets. */
  readonly traceArguments?: boolean;
}

/** A Mac mini on this machine. */
export interface Mac {
  readonly address: { readonly host: string; readonly port: number };
  /** `SHA256:…`; changes with a reinstall. */
  hostKey(): string;
  /** The folder for `/`. */
  readonly root: string;
  path(pathOnMac: string): string;
  readonly user: MacUser;
  readonly faults: Faults;
  readonly journal: Journal;
  /** Runs a command as sshd does, without SSH: for tests of scripts. */
  run(
    command: string,
    options?: { stdin?: string | Buffer; asRoot?: boolean },
  ): Promise<{ code: number | null; signal: string | null; stdout: string; stderr: string }>;
  /** Rejects while the Mac is off. */
  reboot(): Promise<void>;
  isOn(): boolean;
  /** Kills every process and stops listening. Also during a reboot, which then rejects. */
  powerOff(): Promise<void>;
  /** Boots from the existing disk. No effect on a Mac that is on. */
  powerOn(): Promise<void>;
  /** A new system: empty disk, new host key, keys injected again. Switches on a Mac that is off. */
  reinstall(options?: { authorizedKeys?: readonly string[]; password?: string }): Promise<void>;
  /** Changes the host key of sshd, as in a man-in-the-middle attack. Cuts all connections. */
  changeHostKey(): Promise<void>;
  /** Changes the user's password, as a user at the Mac would. */
  setPassword(password: string): void;
  /** The console session. */
  guiSession(): 'Aqua' | 'none';
  /** Ends the console session, as a logout or a crash of WindowServer does. */
  endGuiSession(): void;
  /** A job of launchd, as in `launchctl print`. */
  job(
    label: string,
  ): { state: string; pid?: number; runs: number; lastExit?: string; arguments: readonly string[] } | undefined;
  /** What pf does with packets, and what the start of a virtual machine does to pf. */
  readonly packetFilter: Pick<PacketFilter, 'evaluate' | 'sourceAfterNat' | 'enabled' | 'startVmnet'>;
  /** Kills every process of this Mac and stops listening. The folder stays. */
  stop(): Promise<void>;
}
