#!/usr/bin/env node
import { mainOf } from '../hooks/main-of.ts';
import { runCheck } from './program.ts';

await mainOf(runCheck);
