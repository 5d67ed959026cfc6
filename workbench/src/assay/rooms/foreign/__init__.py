"""Room `foreign`: studies from command lines and files of other programs."""
