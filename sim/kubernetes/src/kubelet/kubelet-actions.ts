import type { Action } from '../resource.ts';
import type { Connect } from './connect.ts';
import { logAction } from './log.ts';
import { streamAction } from './stream.ts';

/** The subresources of Pods behind which a kubelet stands, by name. */
export const kubeletActions = ({
  connect,
}: {
  connect: Connect;
}): Record<'log' | 'exec' | 'attach' | 'portforward', Action> => ({
  log: logAction(connect),
  exec: streamAction('exec'),
  attach: streamAction('attach'),
  portforward: streamAction('portforward'),
});
