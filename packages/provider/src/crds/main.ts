#!/usr/bin/env node
import { mainOf } from '../hooks/main-of.ts';
import { runInstall } from './program.ts';

await mainOf(runInstall);
