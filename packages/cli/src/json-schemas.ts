import type { z } from 'zod';
import { explainDocument } from './explain/explanation.ts';
import { faultsDocument } from './fault/protocol.ts';
import { pausedDocument } from './roll/pause.ts';
import { rollDocument } from './roll/status.ts';
import { runnersDocument } from './runners/document.ts';
import { fleetDocument } from './views/fleet.ts';
import { orphansDocument } from './views/orphans.ts';
import { poolDocument } from './views/pool.ts';
import { versionDocument } from './views/version.ts';

/** What `-o json` prints, by command. */
export const jsonSchemas: Readonly<Record<string, z.ZodType>> = {
  'fault list': faultsDocument,
  fleet: fleetDocument,
  explain: explainDocument,
  pool: poolDocument,
  runners: runnersDocument,
  orphans: orphansDocument,
  'roll status': rollDocument,
  'roll pause': pausedDocument,
  'roll resume': pausedDocument,
  version: versionDocument,
};
