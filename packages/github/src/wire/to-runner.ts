import type { z } from 'zod';
import type { Runner } from '../runner-service.ts';
import type { runnerAnswer } from './answers.ts';

export const toRunner = ({ id, name, status, busy, labels }: z.output<typeof runnerAnswer>): Runner => ({
  id,
  name,
  isOnline: status === 'online',
  isBusy: busy,
  labels: labels.map((label) => label.name),
});
