import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Machine, Subsystem } from '../machine.ts';

const kill = (pid: number): void => {
  // The process group, if it leads one: a virtual machine has sleeping children.
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
 * Resets a TART_HOME as a boot does: no running virtual machine, no lock, no lost slots. Kills nothing: other processes may have the
 * recorded pids by now.
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

/** Kills every virtual machine of a fake tart with this TART_HOME, like pulling the plug of its Mac. */
export const powerOffVms = (home: string): void => {
  for (const pid of entries(join(home, '.fake/running'))) kill(Number(pid));
  for (const name of entries(join(home, 'vms'))) childrenOf(join(home, 'vms', name)).forEach(kill);
  clearVmState(home);
};

/** Kills every process of the program at this path, including one that is about to start a virtual machine and is not recorded yet. */
export const killProcessesOf = (path: string): void => {
  const lines = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  for (const line of lines) if (line.includes(path)) kill(Number.parseInt(line, 10));
};

/** What the start and end of virtual machines do to their Mac. The fake tart calls `sim-vm-start`, which no real Mac has. */
export const createVirtualMachines = (machine: Machine, startVmnet: () => void): Subsystem => {
  let isFirst = true;
  const tartHomes = [`/Users/${machine.user.name}`, '/var/root'].map((home) => machine.path(`${home}/.tart`));
  return {
    tools: {
      'sim-vm-start': ({ args: [name = ''] }) => {
        machine.journal.record('vm', name);
        // InternetSharing starts with the first one of a boot.
        if (isFirst) startVmnet();
        isFirst = false;
        return { code: 0 };
      },
    },
    async boot() {
      isFirst = true;
      // None runs after a boot, whatever a power cut has left behind.
      tartHomes.forEach(clearVmState);
    },
    // Each has its own session, so that it outlives its parent: the records of the fake find it.
    async shutdown() {
      tartHomes.forEach(powerOffVms);
    },
  };
};
