import assert from 'node:assert/strict';
import type { Ran } from './run.ts';
import type { Stage } from './stage.ts';

export { isReady, runsAgent } from '../../system/nodes.ts';

/** Shows all that was said when a command did not do what it should. */
export const succeeded = (stage: Stage, ran: Ran): void => {
  if (ran.code !== 0) assert.fail(`it ended with ${ran.code}:\n${ran.output}\n${stage.whatWasSaid()}`);
};
