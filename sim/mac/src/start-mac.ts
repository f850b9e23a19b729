import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep, systemClock } from '@tartan/kube/clock';
import { createConsole } from './console/console.ts';
import { observableFaults } from './faults.ts';
import { emptyRunFolder, openInstallation } from './installation.ts';
import { createLaunchd } from './launchd/launchd.ts';
import { lockMac } from './lock.ts';
import type { Mac, MacOptions } from './mac.ts';
import { createMachine } from './machine.ts';
import { createPacketFilter } from './pf/packet-filter.ts';
import { createPower, nextBootTime } from './power.ts';
import { collectOutput, createProcesses, killLeftoverProcesses } from './processes.ts';
import { createActionsService } from './software/actions-service.ts';
import { createSshd } from './ssh/sshd.ts';
import { createTailscale } from './tailscale/tailscale.ts';
import { createVirtualMachines } from './tart/virtual-machines.ts';
import { createTools } from './tools/create-tools.ts';
import { binFoldersFor, removeBinFolders } from './userland/bin-folders.ts';
import { createDisk } from './userland/disk-space.ts';
import { createOwners, defaultOwner } from './userland/owners.ts';
import { realTool } from './userland/real-tools.ts';
import { createToolCalls } from './userland/tool-calls.ts';
import { createUserland } from './userland/userland.ts';

/**
 * A killed simulator leaves the processes of its Mac running, which a power cut of a real one would end. They are found by the Mac's folder
 * in their environment, never by a pid, which another process may have by now.
 */
const cleanUpAfterPowerCut = async (root: string, bin: string): Promise<void> => {
  await killLeftoverProcesses(root);
  removeBinFolders(bin);
};

/** How long a Mac mini is down during a restart. */
const rebootMs = 25_000;

/** Creates the parts of a Mac and switches it on. `root` is its disk, `hidden` has the simulator's own files. */
const assembleMac = async (options: MacOptions, root: string, hidden: string): Promise<Mac> => {
  const { clock = systemClock, pace = 0.01, traceArguments = false } = options;
  const { name = 'm1', uid = 501, password } = options.user ?? {};
  const home = join(root, 'Users', name);
  let bootTime = 0;
  let isUp = false;

  const faults = observableFaults((fault) => {
    if (fault === 'ssh') sshd.faultChanged();
    if (fault === 'diskFree') {
      disk.faultChanged();
      linkUserland();
    }
  });
  const disk = createDisk(root, faults);
  const owners = createOwners(
    join(hidden, 'owners'),
    defaultOwner(root, name, () => console.session() === 'Aqua'),
  );
  const { authorizedKeys, environment } = options;
  const system = openInstallation({
    root,
    hidden,
    user: { name, uid },
    settings: { password, authorizedKeys },
    onWiped: owners.clear,
  });
  const { user } = system;
  const machine = createMachine({ root, clock, pace, user, faults, owners, environment, bootTime: () => bootTime });
  const { journal } = machine;

  const console = createConsole(machine);
  const launchd = createLaunchd(machine, console);
  const userland = createUserland(machine, {
    owners,
    disk,
    env: realTool('env') ?? 'env',
    // The caller is gone by then, so nothing can handle a rejection (a power cut meanwhile).
    reboot: () => void reboot().catch(() => {}),
  });
  // In boot order.
  const packetFilter = createPacketFilter(machine);
  const virtualMachines = createVirtualMachines(machine, () => packetFilter.startVmnet());
  const parts = [
    userland,
    createTools(machine),
    packetFilter,
    virtualMachines,
    createTailscale(machine),
    createActionsService(machine),
    launchd,
    console,
  ];
  const tools: typeof userland.tools = Object.assign({}, ...parts.map((part) => part.tools));
  const shared = binFoldersFor(Object.keys(tools));
  const calls = createToolCalls(join(hidden, 'calls'), () => tools);
  const processes = createProcesses();
  const linkUserland = (): void => {
    const bin = join(hidden, 'bin');
    rmSync(bin, { force: true });
    symlinkSync(shared.bin({ traced: traceArguments, limited: faults.diskFree !== undefined }), bin);
  };

  const start = (command: string, who: 'root' | 'user', remotePort: number) => {
    if (!isUp) throw new Error('this Mac is down: nothing runs on it');
    journal.record('exec', command);
    const variables = {
      ...machine.environment(who),
      SSH_CONNECTION: `127.0.0.1 ${remotePort} 127.0.0.1 22`,
      SSH_CLIENT: `127.0.0.1 ${remotePort} 22`,
    };
    return processes.start(command, variables, home);
  };
  const sshd = createSshd({
    machine,
    home,
    port: options.port ?? 0,
    start: (command, { remotePort }) => start(command, 'user', remotePort),
  });

  const boot = async (): Promise<void> => {
    journal.record('boot');
    bootTime = nextBootTime(join(hidden, 'boot-time'), clock.now());
    emptyRunFolder(root);
    await calls.open();
    for (const part of parts) await part.boot();
    isUp = true;
    await sshd.start(system.hostKey().privateKey);
  };

  const shutDown = async (): Promise<void> => {
    isUp = false;
    await sshd.stop();
    await processes.killAll();
    for (const part of parts.toReversed()) await part.shutdown();
    await calls.close();
  };

  const power = createPower({
    boot,
    shutDown,
    waitWhileDown: async (signal) => {
      if (pace > 0) await sleep(clock, machine.pace(rebootMs), signal);
    },
  });
  const reboot = (): Promise<void> => power.restart(() => journal.record('reboot'));

  writeFileSync(join(hidden, 'user'), `${user.uid} ${user.name}\n`);
  linkUserland();
  await power.on();

  return {
    address: { host: '127.0.0.1', port: sshd.port() },
    hostKey: () => system.hostKey().fingerprint,
    root,
    path: machine.path,
    user,
    faults,
    journal,
    run: async (command, { stdin = '', asRoot = false } = {}) =>
      collectOutput(start(command, asRoot ? 'root' : 'user', 50_000), stdin),
    reboot,
    isOn: power.isOn,
    powerOff: () => {
      journal.record('power', 'off');
      return power.off();
    },
    powerOn: () => power.on(),
    reinstall: (fresh) =>
      power.reinstall(() => {
        journal.record('reinstall', faults.reinstallDoesNotWipe ? 'nothing wiped' : 'wiped');
        if (!faults.reinstallDoesNotWipe) system.install(fresh);
      }),
    changeHostKey: () =>
      power.runExclusive(async () => {
        system.newHostKey();
        if (!isUp) return;
        await sshd.stop();
        await sshd.start(system.hostKey().privateKey);
      }),
    setPassword: system.setPassword,
    guiSession: () => console.session(),
    endGuiSession: () => console.end(),
    job: (label) => launchd.job(label),
    packetFilter,
    stop: power.end,
  };
};

/** Starts a Mac: an installed one as it is, also after a killed simulator; in an empty folder it installs a new one. */
export const startMac = async (options: MacOptions): Promise<Mac> => {
  mkdirSync(options.folder, { recursive: true });
  const folder = realpathSync(options.folder);
  const root = join(folder, 'root');
  const hidden = join(folder, '.mac');
  mkdirSync(hidden, { recursive: true });
  const lock = lockMac(join(hidden, 'lock'));
  try {
    if (lock.afterPowerCut) await cleanUpAfterPowerCut(root, join(hidden, 'bin'));
    const mac = await assembleMac(options, root, hidden);
    return {
      ...mac,
      stop: async () => {
        await mac.stop();
        lock.release();
      },
    };
  } catch (error) {
    lock.release();
    throw error;
  }
};
