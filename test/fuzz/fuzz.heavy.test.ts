// The medium run of the fuzzer. A longer run: npm run fuzz.
import { fuzzSuite } from './fuzz-suite.ts'

fuzzSuite({ sqlite: 2_000, postgres: 1_000 })
