import { join } from 'node:path';
import { createClient, createLogger, createSubresources, httpsTransport } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { adjustableClock } from '@tartan/kube/testing';
import { createTart } from '@tartan/tart';
import { createVmSubsystem } from '../../../packages/tart-kubelet/src/agent/vm-subsystem.ts';
import { ownProcesses } from '../../../packages/tart-kubelet/src/gc/testing/own-processes.ts';
import { createStartRecorder } from '../../../packages/tart-kubelet/src/vm-start/start-recorder.ts';
import { createAlias } from './effect-names.ts';
import { createFaultWatch } from './fault-watch.ts';
import { injectFileFaults } from './faulty-files.ts';
import { faultySpawn } from './faulty-spawn.ts';
import { faultyTransport } from './faulty-transport.ts';
import { type AgentSettings, type ClockAdvance, settingsVariable } from './settings.ts';

/** The part of the agent that manages virtual machines, in its own process, which kills itself by SIGKILL at a given point. */
const settings = JSON.parse(process.env[settingsVariable] ?? '') as AgentSettings;
const { folder, server, tart } = settings;
const watch = createFaultWatch(settings.points, settings.fault);
const alias = createAlias(folder);
await injectFileFaults(folder, watch, alias);

const clock = adjustableClock(settings.clockOffsetMs);
process.on('message', ({ advanceMs }: ClockAdvance) => clock.advance(advanceMs));
// The test process is gone.
process.on('disconnect', () => process.exit(0));

const { ca, cert, key, url } = server;
const transport = faultyTransport(
  httpsTransport({ server: url, ca, credentials: () => ({ certificate: { cert, key } }), clock: systemClock }),
  watch,
  alias,
);
const environment = { PATH: process.env['PATH'], HOME: folder, TART_HOME: tart.home };
const processes = ownProcesses(folder, environment);

const log = createLogger({ level: 'debug', write: (line) => process.stderr.write(line), clock: systemClock });

await createVmSubsystem({
  nodeName: settings.nodeName,
  agentVersion: 'v0.0.0-test',
  vmSlots: 2,
  maxPods: 4,
  disableVMGC: !settings.collects,
  client: createClient(transport, { clock: systemClock }),
  tokens: createSubresources(transport, { clock: systemClock }),
  events: { event: () => {} },
  paths: {
    guests: join(folder, 'guests'),
    images: join(folder, 'images'),
    journal: join(folder, 'journal'),
    logs: join(folder, 'logs'),
  },
  tart: createTart({ path: tart.path, environment, processes, spawn: faultySpawn(watch, alias) }),
  tartHome: tart.home,
  tartPaths: [tart.path],
  processes,
  dhcpLeases: join(tart.home, '.fake', 'leases'),
  session: { exists: async () => true, ensure: async () => {} },
  startRecorder: createStartRecorder({
    file: join(folder, 'vm-starts.json'),
    bootID: async () => 'boot-1',
    vmSlots: 2,
    clock,
    log,
  }),
  hostIP: () => '10.0.0.1',
  disk: async () => ({ freeBytes: 500e9, totalBytes: 1000e9 }),
  openFiles: {
    check: async (names) => new Map(names.map((name) => [name, settings.openVms.includes(name) ? 'open' : 'closed'])),
  },
  clock,
  random: Math.random,
  log,
}).run(new AbortController().signal);
