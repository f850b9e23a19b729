import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep, systemClock } from '@tartan/kube/clock';
import { nextBootTime } from './boot-time.ts';
import { createConsole } from './console/console.ts';
import { createMachine } from './create-machine.ts';
import { createDisk } from './disk.ts';
import { installRoot } from './install-root.ts';
import { createLaunchd } from './launchd/launchd.ts';
import type { Mac, MacOptions } from './mac.ts';
import { createPacketFilter } from './pf/packet-filter.ts';
import { createProcesses } from './processes.ts';
import { collect } from './ssh/collect.ts';
import { hostKeyIn } from './ssh/host-key.ts';
import { createSshd } from './ssh/sshd.ts';
import { createTailnet } from './tailnet/create-tailnet.ts';
import { createVirtualMachines } from './tart/virtual-machines.ts';
import { createTools } from './tools/create-tools.ts';
import { createUserland } from './userland/create-userland.ts';
import { createOwners } from './userland/owners.ts';
import { realTool } from './userland/real-tools.ts';
import { sharedUserland } from './userland/shared-userland.ts';
import { standardOwner } from './userland/standard-owner.ts';
import { createToolCalls } from './userland/tool-calls.ts';
import { watchedFaults } from './watched-faults.ts';

/** How long a Mac mini is away when it restarts. */
const rebootTakes = 25_000;

/** Starts a Mac: an installed one as it is, an empty folder as a fresh one. */
export const startMac = async (options: MacOptions): Promise<Mac> => {
  const { clock = systemClock, pace = 0.01, traceArguments = false } = options;
  mkdirSync(options.folder, { recursive: true });
  const folder = realpathSync(options.folder);
  const root = join(folder, 'root');
  // What belongs to the simulator and not to the Mac's disk.
  const hidden = join(folder, '.mac');
  mkdirSync(hidden, { recursive: true });
  const user = { name: 'm1', uid: 501, password: 'of the simulated Mac', ...options.user };
  const home = join(root, 'Users', user.name);
  let authorizedKeys = options.authorizedKeys ?? [];
  let bootTime = 0;
  let isUp = false;
  let hostKey = hostKeyIn(join(hidden, 'host-key'));
  const off = new AbortController();

  const faults = watchedFaults((fault) => {
    if (fault === 'ssh') sshd.faultChanged();
    if (fault === 'diskFree') {
      disk.faultChanged();
      linkUserland();
    }
  });
  const disk = createDisk(root, faults);
  const owners = createOwners(
    join(hidden, 'owners.json'),
    standardOwner(root, user.name, () => console.session() === 'Aqua'),
  );
  const { environment } = options;
  const machine = createMachine({ root, clock, pace, user, faults, owners, environment, bootTime: () => bootTime });
  const { journal } = machine;

  const console = createConsole(machine);
  const launchd = createLaunchd(machine, console);
  const userland = createUserland(machine, {
    owners,
    disk,
    env: realTool('env') ?? 'env',
    restart: () => void reboot(),
  });
  // In the order in which they come up at boot.
  const packetFilter = createPacketFilter(machine);
  const virtualMachines = createVirtualMachines(machine, () => packetFilter.startVmnet());
  const parts = [
    userland,
    createTools(machine),
    packetFilter,
    virtualMachines,
    createTailnet(machine),
    launchd,
    console,
  ];
  const tools: typeof userland.tools = Object.assign({}, ...parts.map((part) => part.tools));
  const shared = sharedUserland(Object.keys(tools));
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

  const makeHostKey = (): void => {
    rmSync(join(hidden, 'host-key'));
    hostKey = hostKeyIn(join(hidden, 'host-key'));
  };

  const install = (): void => {
    rmSync(root, { recursive: true, force: true });
    mkdirSync(root);
    installRoot(root, user, authorizedKeys, join(hidden, 'bin'));
  };

  const boot = async (): Promise<void> => {
    journal.record('boot');
    bootTime = nextBootTime(join(hidden, 'boot-time'), clock.now());
    await calls.open();
    for (const part of parts) await part.boot();
    isUp = true;
    await sshd.start(hostKey.privateKey);
  };

  const shutDown = async (): Promise<void> => {
    isUp = false;
    await sshd.stop();
    await processes.killAll();
    for (const part of parts.toReversed()) await part.shutdown();
    await calls.close();
    owners.save();
  };

  // One change of power at a time: a Mac that is stopped while it restarts must not come up afterwards.
  let power = Promise.resolve();
  const then = (change: () => Promise<void>): Promise<void> => {
    power = power.then(change);
    return power;
  };
  const restart = (meanwhile: () => void): Promise<void> =>
    then(async () => {
      if (off.signal.aborted) return;
      await shutDown();
      meanwhile();
      if (pace > 0) await sleep(clock, machine.pace(rebootTakes), off.signal);
      if (!off.signal.aborted) await boot();
    });
  const reboot = (): Promise<void> => restart(() => journal.record('reboot'));

  writeFileSync(join(hidden, 'user'), `${user.uid} ${user.name}\n`);
  linkUserland();
  if (!existsSync(root)) install();
  await boot();

  return {
    address: { host: '127.0.0.1', port: sshd.port() },
    hostKey: () => hostKey.fingerprint,
    root,
    path: machine.path,
    user,
    faults,
    journal,
    run: async (command, { stdin = '', asRoot = false } = {}) =>
      collect(start(command, asRoot ? 'root' : 'user', 50_000), stdin),
    reboot,
    reinstall: (fresh = {}) =>
      restart(() => {
        journal.record('reinstall', faults.reinstallDoesNotWipe ? 'nothing wiped' : 'wiped');
        if (faults.reinstallDoesNotWipe) return;
        authorizedKeys = fresh.authorizedKeys ?? authorizedKeys;
        user.password = fresh.password ?? user.password;
        makeHostKey();
        install();
      }),
    changeHostKey: () =>
      then(async () => {
        makeHostKey();
        if (!isUp) return;
        await sshd.stop();
        await sshd.start(hostKey.privateKey);
      }),
    setPassword: (password) => {
      user.password = password;
    },
    guiSession: () => console.session(),
    endGuiSession: () => console.end(),
    job: (label) => launchd.job(label),
    packetFilter,
    stop: async () => {
      if (off.signal.aborted) return power;
      off.abort();
      return then(async () => {
        if (isUp) await shutDown();
      });
    },
  };
};
