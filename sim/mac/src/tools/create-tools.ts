import type { Machine, Part } from '../machine.ts';
import { createDefaults } from './defaults.ts';
import { createDscacheutil, createDscl } from './directory.ts';
import { fixedAnswers } from './fixed-answers.ts';
import { createNc } from './nc.ts';
import { createNewsyslog } from './newsyslog.ts';
import { createPlutil } from './plutil.ts';
import { createPmset } from './pmset.ts';
import { createScutil } from './scutil.ts';
import { createHostname, createIoreg, createSysctl, swVers } from './system.ts';

/** The tools of macOS that only read and write what is on its disk. They keep nothing in memory, so that there is nothing to boot. */
export const createTools = (machine: Machine): Part => ({
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
    ...fixedAnswers(machine),
  },
  boot: async () => {},
  shutdown: async () => {},
});
