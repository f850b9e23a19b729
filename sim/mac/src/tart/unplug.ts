import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

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

/** Ends every virtual machine of a fake tart with this TART_HOME, as pulling the plug of its Mac does. Lost slots are there again. */
export const unplugVms = (home: string): void => {
  const fake = join(home, '.fake');
  for (const pid of entries(join(fake, 'running'))) {
    kill(Number(pid));
    rmSync(join(fake, 'running', pid), { force: true });
  }
  for (const slot of entries(join(fake, 'leaked'))) rmSync(join(fake, 'leaked', slot), { force: true });
  for (const name of entries(join(home, 'vms'))) {
    const vm = join(home, 'vms', name);
    childrenOf(vm).forEach(kill);
    for (const trace of ['.pid', '.agent', '.children', 'control.sock']) rmSync(join(vm, trace), { force: true });
  }
};
