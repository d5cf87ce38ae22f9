//! The judge of a recorded run: was there one owner per revision, for everyone who looked?
