import type { Machine, Part } from '../machine.ts';
import { unplugVms } from './unplug.ts';

/** What the start and the end of virtual machines mean to their Mac. The fake tart tells by `sim-vm-start`, which no real Mac has. */
export const createVirtualMachines = (machine: Machine, startVmnet: () => void): Part => {
  let isFirst = true;
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
    },
    // Each is in a session of its own, so that it outlives whoever started it: it is found by what the fake keeps of it.
    async shutdown() {
      for (const home of [`/Users/${machine.user.name}`, '/var/root']) unplugVms(machine.path(`${home}/.tart`));
    },
  };
};
