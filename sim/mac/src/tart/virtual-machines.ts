import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine, Subsystem } from '../machine.ts';

const kill = (pid: number): void => {
  // Its group, if it leads one: a virtual machine has children that sleep for it.
  for (const target of [-pid, pid]) {
    try {
      process.kill(target, 'SIGKILL');
      return;
    } catch {
      // Not a leader, or gone.
    }
  }
};

const entries = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

const childrenOf = (vm: string): readonly number[] => {
  try {
    return (readFileSync(join(vm, '.children'), 'utf8').match(/\d+/g) ?? []).map(Number);
  } catch {
    return [];
  }
};

/**
 * What a TART_HOME looks like when its Mac boots: no virtual machine is on, no lock is held, lost slots are there again. Ends nobody:
 * the numbers that are found may belong to others by now.
 */
export const clearVmState = (home: string): void => {
  const fake = join(home, '.fake');
  for (const folder of ['running', 'leaked', 'locks']) {
    for (const entry of entries(join(fake, folder))) rmSync(join(fake, folder, entry), { force: true });
  }
  for (const part of entries(join(home, 'tmp'))) rmSync(join(home, 'tmp', part, '.lock'), { force: true });
  for (const name of entries(join(home, 'vms'))) {
    for (const trace of ['.pid', '.agent', '.children', 'control.sock']) {
      rmSync(join(home, 'vms', name, trace), { force: true });
    }
  }
};

/** Ends every virtual machine of a fake tart with this TART_HOME, as pulling the plug of its Mac does. */
export const powerOffVms = (home: string): void => {
  for (const pid of entries(join(home, '.fake/running'))) kill(Number(pid));
  for (const name of entries(join(home, 'vms'))) childrenOf(join(home, 'vms', name)).forEach(kill);
  clearVmState(home);
};

/** Ends every process of the program at this path, also one that is about to start a virtual machine and has left no trace of it yet. */
export const killProcessesOf = (path: string): void => {
  const lines = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  for (const line of lines) if (line.includes(path)) kill(Number.parseInt(line, 10));
};

/** What the start and the end of virtual machines mean to their Mac. The fake tart tells by `sim-vm-start`, which no real Mac has. */
export const createVirtualMachines = (machine: Machine, startVmnet: () => void): Subsystem => {
  let isFirst = true;
  const tartHomes = [`/Users/${machine.user.name}`, '/var/root'].map((home) => machine.path(`${home}/.tart`));
  return {
    tools: {
      'sim-vm-start': ({ args: [name = ''] }) => {
        machine.journal.record('vm', name);
        // InternetSharing comes up with the first one of a boot.
        if (isFirst) startVmnet();
        isFirst = false;
        return { code: 0 };
      },
    },
    async boot() {
      isFirst = true;
      // None is on after a boot, whatever a power cut has left of them.
      tartHomes.forEach(clearVmState);
    },
    // Each is in a session of its own, so that it outlives whoever started it: it is found by what the fake keeps of it.
    async shutdown() {
      tartHomes.forEach(powerOffVms);
    },
  };
};
