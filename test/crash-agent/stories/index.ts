import type { Story } from '../story.ts';
import { collection } from './collects.ts';
import { deaf, deletion, gone } from './deletes.ts';
import { end, mute, restart } from './ends.ts';
import { refused, two } from './together.ts';

export const stories: readonly Story[] = [end, mute, deletion, deaf, restart, gone, refused, collection, two];
