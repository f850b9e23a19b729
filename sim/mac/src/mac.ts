import type { Clock } from '@tartan/kube/clock';
import type { Faults } from './faults.ts';
import type { Journal, MacUser } from './machine.ts';
import type { PacketFilter } from './pf/packet-filter.ts';

export interface MacOptions {
  /** Folder for its disk; made when missing. What is in it already is an installed Mac, which simply starts. */
  readonly folder: string;
  readonly clock?: Clock;
  /** 1 is as slow as a real Mac; 0.01 lets ten seconds pass in a tenth of one. Also what `sleep` on the Mac obeys. */
  readonly pace?: number;
  /** The password is that of a fresh one; an installed Mac keeps the one it has. */
  readonly user?: Partial<MacUser>;
  /** Public keys in OpenSSH's form that may log in: as injected at first boot, and at each reinstall. Default: as at the last install. */
  readonly authorizedKeys?: readonly string[];
  /** Port of sshd on 127.0.0.1; 0 takes a free one. It stays the same for the life of this object. */
  readonly port?: number;
  /** Variables that every process of this Mac has besides. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Writes the arguments of every process that a script starts into the journal (`argv`): slower, for tests that look for secrets. */
  readonly traceArguments?: boolean;
}

/** A Mac mini on this machine. */
export interface Mac {
  readonly address: { readonly host: string; readonly port: number };
  /** `SHA256:…`; a reinstall makes a new one. */
  hostKey(): string;
  /** The folder that plays `/`. */
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
  /** Rejects while it is off. */
  reboot(): Promise<void>;
  isOn(): boolean;
  /** It dies: every process is gone, nobody listens. Also in the middle of a reboot, which rejects then. */
  powerOff(): Promise<void>;
  /** Boots from its disk as it is. Nothing happens to one that is on. */
  powerOn(): Promise<void>;
  /** A new system: empty disk, new host key, keys injected anew. Switches on a Mac that is off. */
  reinstall(options?: { authorizedKeys?: readonly string[]; password?: string }): Promise<void>;
  /** sshd shows another key from now on, as when somebody stands in between. Connections are cut. */
  changeHostKey(): Promise<void>;
  /** Changes the user's password, as a person at the Mac would. */
  setPassword(password: string): void;
  /** The console session: `Aqua`, or nobody. */
  guiSession(): 'Aqua' | 'none';
  /** Ends the console session, as a logout or a crash of WindowServer does. */
  endGuiSession(): void;
  /** A job of launchd, as `launchctl print` would see it. */
  job(
    label: string,
  ): { state: string; pid?: number; runs: number; lastExit?: string; arguments: readonly string[] } | undefined;
  /** What becomes of packets, and what the start of a virtual machine does to pf. */
  readonly packetFilter: Pick<PacketFilter, 'evaluate' | 'sourceAfterNat' | 'enabled' | 'startVmnet'>;
  /** Ends every process of this Mac and stops listening. The folder stays. */
  stop(): Promise<void>;
}
