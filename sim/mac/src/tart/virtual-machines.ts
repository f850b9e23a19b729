import type { Machine, Part } from '../machine.ts';
import { forgetVms, unplugVms } from './unplug.ts';

/** What the start and the end of virtual machines mean to their Mac. The fake tart tells by `sim-vm-start`, which no real Mac has. */
export const createVirtualMachines = (machine: Machine, startVmnet: () => void): Part => {
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
      tartHomes.forEach(forgetVms);
    },
    // Each is in a session of its own, so that it outlives whoever started it: it is found by what the fake keeps of it.
    async shutdown() {
      tartHomes.forEach(unplugVms);
    },
  };
};
