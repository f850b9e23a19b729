import type { Machine, Subsystem } from '../machine.ts';
import { createDefaults } from './defaults.ts';
import { createDscacheutil, createDscl } from './directory-services.ts';
import { createNc, minimalTools } from './minimal-tools.ts';
import { createNewsyslog } from './newsyslog.ts';
import { createPlutil } from './plutil.ts';
import { createPmset } from './pmset.ts';
import { createHostname, createIoreg, createScutil, createSysctl, swVers } from './system-info.ts';

/** The tools of macOS that only read and write its disk. They keep nothing in memory, so there is nothing to boot. */
export const createTools = (machine: Machine): Subsystem => ({
  tools: {
    defaults: createDefaults(machine),
    plutil: createPlutil(machine),
    pmset: createPmset(machine),
    scutil: createScutil(machine),
    hostname: createHostname(machine),
    sysctl: createSysctl(machine),
    ioreg: createIoreg(machine),
    sw_vers: swVers,
    dscl: createDscl(machine),
    dscacheutil: createDscacheutil(machine),
    nc: createNc(machine),
    newsyslog: createNewsyslog(machine),
    ...minimalTools(machine),
  },
  boot: async () => {},
  shutdown: async () => {},
});
